package kubernetes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

// TestRequests gives one node all kinds of requests for a certificate.
func TestRequests(t *testing.T) {
	request := func(name, at, status string) string {
		return fmt.Sprintf(`
kind: CertificateSigningRequest
metadata: {name: %s, creationTimestamp: "2026-11-21T%sZ"}
spec: {signerName: kubernetes.io/kubelet-serving, username: "system:node:node1"}
status: %s
---`, name, at, status)
	}
	const (
		pending = `{}`
		issued  = `{conditions: [{type: Approved, status: "True"}], certificate: Cg==}`
		denied  = `{conditions: [{type: Denied, status: "True", reason: PolicyDenied, message: "10.0.0.1 is not allowed"}]}`
	)
	approved := func(at string) string {
		return `{conditions: [{type: Approved, status: "True", lastUpdateTime: "2026-11-21T` + at + `Z"}]}`
	}
	for _, tt := range []struct {
		name, requests string
		want           []string // the faults with their notes
		until          string
	}{
		{
			"one pending", request("csr-a", "11:55:00", pending),
			[]string{
				"csr_pending: CertificateSigningRequest csr-a: status.conditions is neither Approved nor Denied; node node1 asked at 2026-11-21T11:55:00Z",
				"to approve it: kubectl certificate approve csr-a",
			}, "12:40:00",
		},
		{
			"several pending", request("csr-c", "11:50:00", pending) + request("csr-b", "11:20:00", pending) + request("csr-a", "11:35:00", pending),
			[]string{
				"csr_pending: CertificateSigningRequest csr-c: status.conditions is neither Approved nor Denied; node node1 has asked 3 times since 2026-11-21T11:20:00Z",
				"all of them: csr-c, csr-a, csr-b",
				"to approve it: kubectl certificate approve csr-c",
			}, "12:35:00",
		},
		{
			"very many pending", request("csr-a", "11:50:01", pending) + request("csr-b", "11:50:02", pending) + request("csr-c", "11:50:03", pending) +
				request("csr-d", "11:50:04", pending) + request("csr-e", "11:50:05", pending) + request("csr-f", "11:50:06", pending) + request("csr-g", "11:50:06", pending),
			[]string{
				"csr_pending: CertificateSigningRequest csr-g: status.conditions is neither Approved nor Denied; node node1 has asked 7 times since 2026-11-21T11:50:01Z",
				"all of them: csr-g, csr-f, csr-e, csr-d, csr-c, and 2 more",
				"to approve it: kubectl certificate approve csr-g",
			}, "12:35:06",
		},
		{"pending, then issued", request("csr-a", "11:50:00", pending) + request("csr-b", "11:51:00", issued), nil, ""},
		{
			"issued, then pending", request("csr-b", "11:51:00", pending) + request("csr-a", "11:50:00", issued),
			[]string{
				"csr_pending: CertificateSigningRequest csr-b: status.conditions is neither Approved nor Denied; node node1 asked at 2026-11-21T11:51:00Z",
				"to approve it: kubectl certificate approve csr-b",
			}, "12:36:00",
		},
		{"approved a moment ago", request("csr-a", "11:50:00", pending) + request("csr-b", "11:59:00", approved("11:59:30")), nil, "12:00:30"},
		{
			"approved, and nobody signs", request("csr-a", "11:58:00", approved("11:59:00")),
			[]string{"csr_pending: CertificateSigningRequest csr-a: status.conditions is Approved, and nobody signs it; node node1 asked at 2026-11-21T11:58:00Z"}, "",
		},
		{"left over from a wait that is over", request("csr-a", "10:00:00", pending) + request("csr-b", "11:15:00", pending), nil, ""},
		{
			"denied, and asked again", request("csr-a", "11:50:00", denied) + request("csr-b", "11:55:00", denied) + request("csr-c", "11:56:00", pending),
			[]string{
				"csr_pending: CertificateSigningRequest csr-c: status.conditions is neither Approved nor Denied; node node1 asked at 2026-11-21T11:56:00Z",
				"to approve it: kubectl certificate approve csr-c",
				"csr_denied: CertificateSigningRequest csr-b: status.conditions is Denied; node node1 has asked 2 times since 2026-11-21T11:50:00Z",
				"received PolicyDenied: 10.0.0.1 is not allowed",
				"all of them: csr-b, csr-a",
			}, "12:41:00",
		},
		{
			"another signer, another node, no node", strings.ReplaceAll(request("csr-a", "11:55:00", pending), "kubelet-serving", "kube-apiserver-client-kubelet") +
				strings.ReplaceAll(request("csr-b", "11:55:00", pending), "node:node1", "node:node9") +
				strings.ReplaceAll(request("csr-c", "11:55:00", pending), "system:node:node1", "alice"), nil, "12:40:00",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := parse(t, "kind: Node\nmetadata: {name: node1}\nstatus: {addresses: [{type: InternalIP, address: 10.0.0.1}]}\n---"+tt.requests)
			c := build(testConfig(), o)
			for _, r := range slices.Concat(o.requests, o.requests) { // a streamed list strips them twice
				stripper{}.request(r)
			}
			var got []string
			for _, f := range c.Own("node1")[0].Faults {
				got = append(got, details([]probe.Problem{f})...)
				if f.Received != "" {
					got = append(got, "received "+f.Received)
				}
				got = append(got, f.Notes...)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults differ (-want +got):\n%s", diff)
			}
			until := ""
			if !c.Until.IsZero() {
				until = c.Until.UTC().Format(time.TimeOnly)
			}
			if until != tt.until {
				t.Errorf("the next list is due at %q, want %q", until, tt.until)
			}
		})
	}
}
