package test

import (
	"context"
	"fmt"
	"hash/adler32"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"tlsprobe/deploy/test/cluster"
)

const (
	challengeHost  = "shop.example.com"
	challengeToken = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0"
	challengeKey   = challengeToken + ".9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI"
	challengePath  = "/.well-known/acme-challenge/" + challengeToken
)

// challengeObjects are a challenge in progress with its solver, as cert-manager makes
// them. The scheduler has put the solver on node-a.
var challengeObjects = fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: cm-acme-http-solver-x, namespace: shop, labels: {acme: solver}}
spec:
  nodeName: node-a
  terminationGracePeriodSeconds: 0
  containers:
    - name: acmesolver
      image: `+cluster.PeerImage+`
      args: [serve, --listen=:8089, --path=`+challengePath+`, --body=`+challengeKey+`]
---
apiVersion: v1
kind: Service
metadata:
  name: cm-acme-http-solver-x
  namespace: shop
  labels:
    acme.cert-manager.io/http01-solver: "true"
    acme.cert-manager.io/http-domain: "%d"
    acme.cert-manager.io/http-token: "%d"
spec:
  selector: {acme: solver}
  ports: [{name: http, port: 8089, targetPort: 8089}]
---
apiVersion: acme.cert-manager.io/v1
kind: Challenge
metadata: {name: shop-tls-1, namespace: shop}
spec: {type: HTTP-01, dnsName: `+challengeHost+`, token: `+challengeToken+`, key: `+challengeKey+`}
status: {processing: true, presented: true, state: pending}
`, adler32.Checksum([]byte(challengeHost)), adler32.Checksum([]byte(challengeToken)))

func TestIncident3SolverOutOfReach(t *testing.T) {
	r := nodes(t)
	t.Cleanup(func() {
		if err := r.command("delete", "namespace", "shop", "--ignore-not-found"); err != nil {
			t.Error(err)
		}
	})
	if err := r.command("create", "namespace", "shop"); err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(challengeObjects); err != nil {
		t.Fatal(err)
	}
	if err := r.command("--namespace=shop", "wait", "pod", "--all", "--for=condition=Ready", "--timeout=60s"); err != nil {
		t.Fatal(err)
	}
	solver, err := r.Kubectl("--namespace=shop", "get", "pod", "cm-acme-http-solver-x", "--output=jsonpath={.status.podIP}")
	if err != nil {
		t.Fatal(err)
	}
	startIngress(t, r.b.Host, solver+":8089")
	r.DNS.SetHost(challengeHost, r.b.Address)

	const target = "acme/shop/shop-tls-1"
	for _, from := range []*cluster.Node{r.a, r.b} {
		r.judges(t, from, target)
	}

	// Between the ingress's node and the solver's is a packet filter.
	rules := fmt.Sprintf(`table inet storage {
		chain forward {
			type filter hook forward priority 0
			ip saddr {%s, %s} ip daddr %s tcp dport 8089 drop
		}
	}`, r.b.Address, r.b.PodNetwork, r.a.PodNetwork)
	if err := r.a.Filter(rules); err != nil {
		t.Fatal(err)
	}
	filtered := true
	unfilter := func() {
		if filtered {
			filtered = false
			if err := r.a.Unfilter("inet storage"); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(unfilter)
	for from, reaches := range map[*cluster.Node]bool{r.a: true, r.b: false} {
		cluster.Eventually(t, readyTime, func() error {
			v, err := r.probe(from, target)
			if err == nil {
				err = checkChallenge(v, reaches)
			}
			return err
		})
	}

	unfilter()
	for _, from := range []*cluster.Node{r.a, r.b} {
		r.judges(t, from, target)
	}
}

// checkChallenge wants the challenge to fail through the host, and the solver's pod to
// answer or not.
func checkChallenge(v verdict, reaches bool) error {
	if v.Reason != "acme_challenge_failed" || len(v.Attempts) != 3 {
		return fmt.Errorf("%+v", v)
	}
	host, pod := v.Attempts[0], v.Attempts[2]
	if host.Via != "cluster DNS" || len(host.Problems) == 0 || !strings.Contains(host.Problems[0].Received, "502") {
		return fmt.Errorf("by its host: %+v", host)
	}
	if pod.Via != "pod cm-acme-http-solver-x on node-a" || reaches != (len(pod.Problems) == 0) {
		return fmt.Errorf("straight at the solver: %+v; it answers: %t", pod, reaches)
	}
	return nil
}

// startIngress answers on port 80 of the host for what a server that is reached from
// there answers.
func startIngress(t *testing.T, host *cluster.Host, backend string) {
	t.Helper()
	listener, err := host.Listen("tcp", net.JoinHostPort(host.Address.String(), "80"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: backend})
	proxy.ErrorLog = log.New(io.Discard, "", 0) // the answer is 502, which is what counts
	proxy.Transport = &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return host.Dial(ctx, network, address)
		},
	}
	server := &http.Server{Handler: proxy}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
}
