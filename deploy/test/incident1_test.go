package test

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tlsprobe/deploy/test/cluster"
)

// kongPods are webhook servers that differ in what they speak on port 8080. Which of
// them is the endpoint is up to the Service.
const kongPods = `
apiVersion: v1
kind: Pod
metadata: {name: kong-%[1]s, namespace: kong, labels: {app: kong, speaks: %[1]s}}
spec:
  nodeName: node-b
  terminationGracePeriodSeconds: 0
  volumes: [{name: tls, secret: {secretName: kong-tls}}]
  containers:
    - name: proxy
      image: ` + cluster.PeerImage + `
      args: [serve, --listen=:8080, --speaks=%[1]s, --certificate=/tls]
      volumeMounts: [{name: tls, mountPath: /tls}]
---
`

// kongWebhook is the webhook as Kong's chart makes it, for one namespace.
const kongWebhook = `
apiVersion: v1
kind: Service
metadata: {name: kong-validation-webhook, namespace: kong}
spec:
  selector: {app: kong, speaks: %s}
  ports: [{name: webhook, port: 443, targetPort: 8080}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: kong-kong-kong-validations}
webhooks:
  - name: validations.kong.konghq.com
    failurePolicy: Ignore
    sideEffects: None
    timeoutSeconds: 5
    admissionReviewVersions: [v1]
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kong}}
    rules:
      - {apiGroups: [networking.k8s.io], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [ingresses]}
    clientConfig:
      service: {namespace: kong, name: kong-validation-webhook, port: 443}
      caBundle: %s
`

func TestIncident1AdmissionWebhook(t *testing.T) {
	r := nodes(t)
	right, other := newCA(t, "kong-ca"), newCA(t, "another-ca")
	r.deployKong(t, right)

	// In this order no call succeeds before the last step: the API server would keep
	// that connection, and not notice the next fault.
	const target = "webhook/kong-kong-kong-validations/validations.kong.konghq.com"
	for _, step := range []struct {
		name     string
		speaks   string
		caBundle *cluster.CA
		reason   string // of both attempts; "": it is well
		said     string // by the API server
	}{
		{"its TLS is off", "http", right, "wrong_version_number", ": http: server gave HTTP response to HTTPS client"},
		{"it closes", "nothing", right, "eof", ": EOF"},
		{"the caBundle does not fit", "tls", other, "unknown_authority", ": x509: certificate signed by unknown authority"},
		{"it works", "tls", right, "", ""},
	} {
		t.Run(step.name, func(t *testing.T) {
			bundle := base64.StdEncoding.EncodeToString(step.caBundle.PEM())
			if err := r.Apply(fmt.Sprintf(kongWebhook, step.speaks, bundle)); err != nil {
				t.Fatal(err)
			}
			said := r.apiServerSays(t, step.said)
			var reasons []string
			if step.reason != "" {
				means(t, said, step.reason)
				reasons = []string{step.reason}
			}
			for _, from := range []*cluster.Node{r.a, r.b} {
				v := r.judges(t, from, target, reasons...)
				checkKongAttempts(t, v, step.reason)
			}
		})
	}
	for _, speaks := range []string{"http", "tls", "nothing"} {
		log, err := r.Kubectl("--namespace=kong", "logs", "kong-"+speaks)
		if err != nil {
			t.Error(err)
		}
		r.quiet(t, "the webhook that speaks "+speaks, log)
		// The API server is the client that the incident's log lines are about.
		if complaint := "TLS handshake error from " + r.ControlPlane.Address.String(); speaks == "tls" && !strings.Contains(log, complaint) {
			t.Errorf("the webhook does not log %q; the check above proves nothing:\n%s", complaint, log)
		}
	}
}

func newCA(t *testing.T, name string) *cluster.CA {
	t.Helper()
	ca, err := cluster.NewCA(name)
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

// deployKong starts the webhook servers, with a certificate of this CA.
func (r *realCluster) deployKong(t *testing.T, ca *cluster.CA) {
	t.Helper()
	pair, err := ca.Server([]string{"kong-validation-webhook.kong.svc"})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kong")
	if err := cluster.WritePair(file, pair); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := r.Kubectl("delete", "--ignore-not-found", "namespace/kong", "validatingwebhookconfiguration/kong-kong-kong-validations"); err != nil {
			t.Error(err)
		}
	})
	yaml := fmt.Sprintf(kongPods, "http") + fmt.Sprintf(kongPods, "tls") + fmt.Sprintf(kongPods, "nothing")
	for _, step := range []func() error{
		func() error { return r.command("create", "namespace", "kong") },
		func() error {
			return r.command("--namespace=kong", "create", "secret", "tls", "kong-tls", "--cert="+file+".crt", "--key="+file+".key")
		},
		func() error { return r.Apply(yaml) },
		func() error {
			return r.command("--namespace=kong", "wait", "pod", "--all", "--for=condition=Ready", "--timeout=60s")
		},
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

// apiServerSays makes the API server call the webhook until its log says this about
// the call, or, if this is empty, until the call brings no new line. It returns the
// line.
func (r *realCluster) apiServerSays(t *testing.T, want string) (said string) {
	t.Helper()
	cluster.Eventually(t, readyTime, func() error {
		before := len(r.APIServer().Output())
		if err := r.command("--namespace=kong", "create", "ingress", "any", "--rule=any.example/*=any:80", "--dry-run=server"); err != nil {
			return err
		}
		said = ""
		for line := range strings.Lines(r.APIServer().Output()[before:]) {
			if strings.Contains(line, "failed calling webhook") && strings.Contains(line, "kong") {
				said = strings.TrimSpace(line)
			}
		}
		if said != "" && want == "" || !strings.Contains(said, want) {
			return fmt.Errorf("the API server says %q, not %q", said, want)
		}
		return nil
	})
	return said
}

// checkKongAttempts wants the same through the ClusterIP and straight at the one
// endpoint, whose port is another than the Service's.
func checkKongAttempts(t *testing.T, v verdict, reason string) {
	t.Helper()
	if len(v.Attempts) != 2 ||
		v.Attempts[0].Via != "ClusterIP of kong/kong-validation-webhook" || !strings.HasSuffix(v.Attempts[0].Peer, ":443") ||
		!strings.HasPrefix(v.Attempts[1].Via, "pod kong-") || !strings.HasSuffix(v.Attempts[1].Via, " on node-b") || !strings.HasSuffix(v.Attempts[1].Peer, ":8080") {
		t.Fatalf("attempts: %+v", v.Attempts)
	}
	for _, attempt := range v.Attempts {
		if found := len(attempt.Problems); found > 0 != (reason != "") || found > 0 && attempt.Problems[0].Reason != reason {
			t.Errorf("via %s: %+v, want %q", attempt.Via, attempt.Problems, reason)
		}
	}
}
