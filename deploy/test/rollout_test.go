package test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tlsprobe/deploy/test/cluster"
)

// slowPod answers each request after two seconds, and slowServices lead to it: most
// of the time an agent waits for one of them.
const (
	slowPod = `
apiVersion: v1
kind: Namespace
metadata: {name: slow}
---
apiVersion: v1
kind: Pod
metadata: {name: slow, namespace: slow, labels: {app: slow}}
spec:
  nodeName: node-a
  terminationGracePeriodSeconds: 0
  containers:
    - name: slow
      image: ` + cluster.PeerImage + `
      args: [serve, --listen=:8080, --path=/slow, --body=ok, --delay=2s]
---
`
	slowService = `
apiVersion: v1
kind: Service
metadata:
  name: %s
  namespace: slow
  annotations: {tlsprobe.io/probe: http, tlsprobe.io/path: /slow, tlsprobe.io/interval: 6s}
spec:
  selector: {app: slow}
  ports: [{name: http, port: 80, targetPort: 8080}]
---
`
)

func TestRollingUpdate(t *testing.T) {
	r := nodes(t)
	slow := []string{"slow-1", "slow-2", "slow-3", "slow-4"}
	r.deploySlow(t, slow)
	for _, from := range r.Nodes {
		r.judges(t, from, "service/slow/"+slow[0]) // a list comes as a whole
	}
	before := r.settled(t)
	agents, err := r.agents()
	if err != nil {
		t.Fatal(err)
	}
	logs := map[string]*cluster.Process{}
	for node, p := range agents {
		if logs[node], err = r.FollowLog("tlsprobe", p.Metadata.Name, "rolled-"+node); err != nil {
			t.Fatal(err)
		}
	}

	if err := r.command("--namespace=tlsprobe", "rollout", "restart", "daemonset/tlsprobe-agent"); err != nil {
		t.Fatal(err)
	}
	if err := r.rolledOut(); err != nil {
		t.Fatal(err)
	}
	renewed, err := r.agents()
	if err != nil {
		t.Fatal(err)
	}
	for node, p := range renewed {
		if p.Metadata.Name == agents[node].Metadata.Name {
			t.Errorf("the agent on %s is the old one", node)
		}
	}
	r.sameResults(t, before, r.settled(t))
	for node, log := range logs {
		<-log.Done() // with its agent
		for line := range strings.Lines(log.Output()) {
			if strings.Contains(line, "target=service/slow/") && !strings.Contains(line, "level=INFO") {
				t.Errorf("the agent on %s took its own end for a failure: %s", node, line)
			}
		}
	}
	if log, err := r.Kubectl("--namespace=slow", "logs", "slow"); err != nil || !strings.Contains(log, "has left") {
		t.Errorf("no agent was stopped in the middle of a probe, so that nothing is proved: %v\n%s", err, log)
	}
}

// deploySlow makes Services of these names, all of the one slow pod.
func (r *realCluster) deploySlow(t *testing.T, names []string) {
	t.Helper()
	yaml := slowPod
	for _, name := range names {
		yaml += fmt.Sprintf(slowService, name)
	}
	t.Cleanup(func() {
		if err := r.command("delete", "namespace", "slow"); err != nil {
			t.Error(err)
		}
	})
	if err := r.Apply(yaml); err != nil {
		t.Fatal(err)
	}
	if err := r.command("--namespace=slow", "wait", "pod", "--all", "--for=condition=Ready", "--timeout=60s"); err != nil {
		t.Fatal(err)
	}
}

// sameResults wants each agent to have the targets that it had, and to find the same.
func (r *realCluster) sameResults(t *testing.T, before, after map[string]map[string]result) {
	t.Helper()
	r.sameTargets(t, before, after)
	for node, results := range after {
		for target, was := range before[node] {
			if now := results[target]; was.Status != now.Status || !slices.Equal(was.Reasons, now.Reasons) {
				t.Errorf("%s on %s: was %+v, is %+v", target, node, was, now)
			}
		}
	}
}
