package kubernetes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"

	"tlsprobe/probe"
)

// kubeletUser is what stands before a node's name in its kubelet's user name.
const kubeletUser = "system:node:"

const (
	// signingTime is how long a signer may take for a request that is approved.
	signingTime = time.Minute
	// patienceOfKubelets is longer than any kubelet waits for one request before it
	// makes another (15 minutes, certificateWaitTimeout in client-go's
	// util/certificate). What is older is left from a wait that is over, which the
	// request that ended it no longer shows: it is kept for an hour, others for a day.
	patienceOfKubelets = 45 * time.Minute
)

// A requestQueue is the requests of one kubelet for a serving certificate that
// came to nothing, the oldest first. With serverTLSBootstrap a kubelet without a
// certificate asks for one again and again, and fails every handshake until then.
type requestQueue struct {
	node                      string
	pending, unsigned, denied []*certificatesv1.CertificateSigningRequest
}

// requestQueues returns them by the name of the node. What is older than a
// request with a certificate matters no more.
func (b *builder) requestQueues() map[string]requestQueue {
	byAge := slices.Clone(b.objects.requests)
	slices.SortFunc(byAge, func(x, y *certificatesv1.CertificateSigningRequest) int {
		return cmp.Or(x.CreationTimestamp.Compare(y.CreationTimestamp.Time), cmp.Compare(x.Name, y.Name))
	})
	queues := map[string]requestQueue{}
	for _, r := range byAge {
		node, ok := strings.CutPrefix(r.Spec.Username, kubeletUser)
		if !ok || r.Spec.SignerName != certificatesv1.KubeletServingSignerName {
			continue
		}
		queue := queues[node]
		queue.node = node
		switch approved := condition(r, certificatesv1.CertificateApproved); {
		case condition(r, certificatesv1.CertificateDenied) != nil:
			queue.denied = append(queue.denied, r)
		case approved == nil:
			queue.pending = append(queue.pending, r)
		case len(r.Status.Certificate) > 0 || b.before(approved.LastUpdateTime.Add(signingTime)):
			queue = requestQueue{}
		default:
			queue.unsigned = append(queue.unsigned, r)
		}
		queues[node] = queue
	}
	for node, queue := range queues {
		if n := len(queue.pending); n > 0 && !b.before(queue.pending[n-1].CreationTimestamp.Add(patienceOfKubelets)) {
			queue.pending = nil
			queues[node] = queue
		}
	}
	return queues
}

// condition returns the condition of this kind, nil if the request has none.
func condition(r *certificatesv1.CertificateSigningRequest, kind certificatesv1.RequestConditionType) *certificatesv1.CertificateSigningRequestCondition {
	for i := range r.Status.Conditions {
		if c := &r.Status.Conditions[i]; c.Type == kind {
			return c
		}
	}
	return nil
}

// faults says what waits for somebody.
func (q requestQueue) faults() []probe.Problem {
	var all []probe.Problem
	if n := len(q.pending); n > 0 {
		p := q.fault("csr_pending", q.pending, "is neither Approved nor Denied")
		p.Notes = append(p.Notes, "to approve it: kubectl certificate approve "+q.pending[n-1].Name)
		all = append(all, p)
	}
	if len(q.unsigned) > 0 {
		all = append(all, q.fault("csr_pending", q.unsigned, "is Approved, and nobody signs it"))
	}
	if n := len(q.denied); n > 0 {
		c := condition(q.denied[n-1], certificatesv1.CertificateDenied)
		p := q.fault("csr_denied", q.denied, "is Denied")
		p.Received = strings.Trim(c.Reason+": "+c.Message, ": ")
		all = append(all, p)
	}
	return all
}

// fault is about requests in the same state; the newest is the one that the
// kubelet waits for.
func (q requestQueue) fault(id string, requests []*certificatesv1.CertificateSigningRequest, state string) probe.Problem {
	n, since := len(requests), requests[0].CreationTimestamp.UTC().Format(time.RFC3339)
	newest := at(requests[n-1], "status.conditions")
	if n == 1 {
		return newest.fault(id, "%s; node %s asked at %s", state, q.node, since)
	}
	p := newest.fault(id, "%s; node %s has asked %d times since %s", state, q.node, n, since)
	p.Notes = []string{"all of them: " + namesOf(requests)}
	return p
}

// namesOf lists the requests, the newest first.
func namesOf(requests []*certificatesv1.CertificateSigningRequest) string {
	const most = 5
	var all []string
	for _, r := range slices.Backward(requests) {
		all = append(all, r.Name)
	}
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}
