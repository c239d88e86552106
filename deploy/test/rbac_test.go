package test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"tlsprobe/deploy/test/cluster"
)

// A right is one verb on one resource.
type right struct{ group, resource, verb string }

func (r right) String() string { return r.verb + " " + r.full() }

// full is the resource's name with its group, as the hub calls it.
func (r right) full() string {
	if r.group == "" {
		return r.resource
	}
	return r.resource + "." + r.group
}

// TestEveryRightIsNeeded runs the hub without each right that the manifests give it,
// one at a time: it misses that and nothing else, says so once, and goes on with the
// rest. With all of them it misses nothing. The API server does not stream lists, as
// those before Kubernetes 1.34: for one that does, the right to watch is enough.
func TestEveryRightIsNeeded(t *testing.T) {
	c := startCluster(t, cluster.Config{Name: "rbac", APIServerFlags: []string{"--feature-gates=WatchList=false"}})
	kubeconfig := grantHub(t, c)
	crds, err := os.ReadFile("testdata/crds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	mustApply(t, c, string(crds))
	client, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	role, err := client.RbacV1().ClusterRoles().Get(t.Context(), hubAccount, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	host := addHost(t, c, "hub", "10.77.0.20")
	all := rightsOf(role.Rules)
	t.Run("with all rights", func(t *testing.T) {
		runHub(t, c, host, "kubeconfig: "+kubeconfig).misses(t, all, nil)
	})
	for _, without := range all {
		t.Run("without "+without.String(), func(t *testing.T) {
			grant(t, client, role, slices.DeleteFunc(slices.Clone(all), func(r right) bool { return r == without }), without)
			runHub(t, c, host, "kubeconfig: "+kubeconfig).misses(t, all, &without)
		})
	}
}

func rightsOf(rules []rbacv1.PolicyRule) []right {
	var all []right
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all = append(all, right{group, resource, verb})
				}
			}
		}
	}
	return all
}

// grant makes these the rights of the role, and returns when the one that is denied
// is no longer granted.
func grant(t *testing.T, client kubernetes.Interface, role *rbacv1.ClusterRole, rights []right, denied right) {
	t.Helper()
	changed := role.DeepCopy()
	changed.ResourceVersion, changed.Rules = "", nil
	for _, r := range rights {
		changed.Rules = append(changed.Rules, rbacv1.PolicyRule{APIGroups: []string{r.group}, Resources: []string{r.resource}, Verbs: []string{r.verb}})
	}
	if _, err := client.RbacV1().ClusterRoles().Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range rights {
		authorized(t, client, r, true)
	}
	authorized(t, client, denied, false)
}

// authorized waits until the hub has a right, or has it no more.
func authorized(t *testing.T, client kubernetes.Interface, r right, want bool) {
	t.Helper()
	question := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               "system:serviceaccount:" + hubNamespace + ":" + hubAccount,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Group: r.group, Resource: r.resource, Verb: r.verb},
	}}
	cluster.Eventually(t, readyTime, func() error {
		answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), question, metav1.CreateOptions{})
		if err == nil && answer.Status.Allowed != want {
			err = fmt.Errorf("%s: allowed is %t", r, answer.Status.Allowed)
		}
		return err
	})
}

// misses wants the hub to have read everything but what the missing right, if any,
// keeps from it.
func (p *product) misses(t *testing.T, all []right, missing *right) {
	t.Helper()
	want := map[string][]string{}
	for _, r := range all {
		state := "synced"
		if missing != nil && r.full() == missing.full() {
			state = "forbidden"
		}
		if !slices.Contains(want[state], r.full()) {
			want[state] = append(want[state], r.full())
		}
	}
	for _, resources := range want {
		slices.Sort(resources)
	}
	cluster.Eventually(t, readyTime, func() error {
		states, err := p.watchStates()
		if err == nil && fmt.Sprint(states) != fmt.Sprint(want) {
			err = fmt.Errorf("the watches are %v, want %v", states, want)
		}
		if err == nil {
			_, err = p.get("/-/ready")
		}
		return err
	})
	cluster.Eventually(t, readyTime, func() error {
		lines := 0
		for line := range strings.Lines(p.said()) {
			if strings.Contains(line, "forbidden") {
				lines++
			}
		}
		if want := len(want["forbidden"]); lines != want {
			return fmt.Errorf("%d lines of the log speak of what is forbidden, want %d:\n%s", lines, want, p.said())
		}
		return nil
	})
}
