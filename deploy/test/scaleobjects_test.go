package test

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"tlsprobe/deploy/test/cluster"
)

// crowdNamespace holds all that a crowd has in a namespace.
const crowdNamespace = "crowd"

// A crowd is the objects of a large cluster.
type crowd struct {
	client kubernetes.Interface
	dns    *cluster.DNS
	cas    []*cluster.CA // of the webhooks' configurations
}

// newCrowd makes the namespace of a crowd, and starts the cluster's DNS.
func newCrowd(t *testing.T, c *cluster.Cluster) *crowd {
	t.Helper()
	if err := c.StartDNS(); err != nil {
		t.Fatal(err)
	}
	mustApply(t, c, "{apiVersion: v1, kind: Namespace, metadata: {name: "+crowdNamespace+"}}")
	client, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	return &crowd{client: client, dns: c.DNS}
}

// webhooksPerConfiguration share a caBundle and a Service, as an operator's do.
const webhooksPerConfiguration = 10

// each calls f with 0 to n-1, 16 at once: that is as fast as the API server gets.
func each(t *testing.T, n int, f func(ctx context.Context, i int) error) {
	t.Helper()
	numbers := make(chan int)
	var workers sync.WaitGroup
	var failed atomic.Bool
	for range 16 {
		workers.Go(func() {
			for i := range numbers {
				if err := f(t.Context(), i); err != nil {
					t.Errorf("object %d: %v", i, err)
					failed.Store(true)
				}
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
	if failed.Load() {
		t.FailNow()
	}
}

// addNodes makes nodes with the numbers from first up to last.
func (c *crowd) addNodes(t *testing.T, first, last int) {
	each(t, last-first, func(ctx context.Context, i int) error {
		node := newNode(first + i)
		made, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made.Status = node.Status
		_, err = c.client.CoreV1().Nodes().UpdateStatus(ctx, made, metav1.UpdateOptions{})
		return err
	})
}

func nodeName(i int) string {
	return fmt.Sprintf("ip-10-200-%d-%d.eu-west-1.compute.internal", i/250, i%250)
}

// nodeAddress is within 10.200.0.0/16.
func nodeAddress(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 200, byte(i / 250), byte(i%250 + 1)})
}

// newNode makes a node as large as one in use: most of it are the images it has.
func newNode(i int) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), Labels: map[string]string{}}}
	for label := range 20 {
		node.Labels[fmt.Sprintf("node.example/label-%d", label)] = fmt.Sprintf("value-%d", i%(label+2))
	}
	node.Status = corev1.NodeStatus{
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: nodeAddress(i).String()}, {Type: corev1.NodeHostName, Address: node.Name}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: 10250}},
		Capacity:        corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi")},
		Conditions:      heartbeat(),
	}
	for image := range 50 {
		name := fmt.Sprintf("registry.example/team-%d/service-%d", i%40, image)
		digest := fmt.Sprintf("%s@sha256:%064x", name, uint64(i+1)*uint64(image+1)*0x9e3779b97f4a7c15)
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{Names: []string{digest, name + ":1.0"}, SizeBytes: 1 << 26})
	}
	return node
}

// heartbeat is what a kubelet renews with every status that it sends.
func heartbeat() []corev1.NodeCondition {
	var conditions []corev1.NodeCondition
	for _, kind := range []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		conditions = append(conditions, corev1.NodeCondition{Type: kind, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), Reason: "KubeletReady", Message: "kubelet is posting ready status"})
	}
	return conditions
}

// beat renews the status of the first n nodes.
func (c *crowd) beat(t *testing.T, n int) {
	each(t, n, func(ctx context.Context, i int) error {
		node, err := c.client.CoreV1().Nodes().Get(ctx, nodeName(i), metav1.GetOptions{})
		if err != nil {
			return err
		}
		node.Status.Conditions = heartbeat()
		node.Status.Images = node.Status.Images[1:] // kubelets collect garbage, too
		_, err = c.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
}

// addIngresses makes n of them, each with a Service of its own and one address for
// all, which cluster DNS knows too.
func (c *crowd) addIngresses(t *testing.T, n int, address netip.Addr) {
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Spec: networkingv1.IngressClassSpec{Controller: "test.example/ingress"}}
	if _, err := c.client.NetworkingV1().IngressClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	each(t, n, func(ctx context.Context, i int) error {
		name := fmt.Sprintf("app-%d", i)
		if err := c.addService(ctx, name, 8443, netip.AddrFrom4([4]byte{10, 201, byte(i / 250), byte(i%250 + 1)})); err != nil {
			return err
		}
		host := fmt.Sprintf("app-%d.team-%d.example", i, i%40)
		c.dns.SetHost(host, address)
		ingress := newIngress(name, host)
		made, err := c.client.NetworkingV1().Ingresses(crowdNamespace).Create(ctx, ingress, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: address.String()}}
		_, err = c.client.NetworkingV1().Ingresses(crowdNamespace).UpdateStatus(ctx, made, metav1.UpdateOptions{})
		return err
	})
}

func newIngress(name, host string) *networkingv1.Ingress {
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: name, Port: networkingv1.ServiceBackendPort{Number: 443}}}
	path := networkingv1.HTTPIngressPath{Path: "/", PathType: new(networkingv1.PathTypePrefix), Backend: backend}
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"cert-manager.io/cluster-issuer": "letsencrypt"}},
		Spec: networkingv1.IngressSpec{
			IngressClassName: new("shared"),
			TLS:              []networkingv1.IngressTLS{{Hosts: []string{host}, SecretName: name + "-tls"}},
			Rules: []networkingv1.IngressRule{{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{
				HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{path}}}}},
		},
	}
}

// addWebhooks makes n of them.
func (c *crowd) addWebhooks(t *testing.T, n int) {
	for range n / webhooksPerConfiguration {
		ca, err := cluster.NewCA("operator-ca")
		if err != nil {
			t.Fatal(err)
		}
		c.cas = append(c.cas, ca)
	}
	each(t, len(c.cas), func(ctx context.Context, i int) error {
		service := operatorService(i)
		if err := c.addService(ctx, service, 9443, netip.AddrFrom4([4]byte{10, 202, byte(i / 250), byte(i%250 + 1)})); err != nil {
			return err
		}
		_, err := c.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, newConfiguration(i, service, c.cas[i]), metav1.CreateOptions{})
		return err
	})
}

func operatorService(i int) string { return fmt.Sprintf("operator-%d", i) }

// newConfiguration makes one that is asked about nothing that this test makes.
func newConfiguration(i int, service string, ca *cluster.CA) *admissionv1.ValidatingWebhookConfiguration {
	configuration := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: service}}
	for number := range webhooksPerConfiguration {
		rule := admissionv1.Rule{APIGroups: []string{service + ".example"}, APIVersions: []string{"v1"}, Resources: []string{fmt.Sprintf("things%d", number)}}
		configuration.Webhooks = append(configuration.Webhooks, admissionv1.ValidatingWebhook{
			Name: fmt.Sprintf("v%d.%s.example", number, service),
			ClientConfig: admissionv1.WebhookClientConfig{
				CABundle: ca.PEM(),
				Service:  &admissionv1.ServiceReference{Namespace: crowdNamespace, Name: service, Path: new(fmt.Sprintf("/validate-%d", number))},
			},
			Rules:                   []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update}, Rule: rule}},
			SideEffects:             new(admissionv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		})
	}
	return configuration
}

// addService makes a Service with one endpoint.
func (c *crowd) addService(ctx context.Context, name string, port int32, endpoint netip.Addr) error {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "https", Port: 443, TargetPort: intstr.FromInt32(port)}}},
	}
	if _, err := c.client.CoreV1().Services(crowdNamespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
		return err
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name + "-x7k2p", Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new("https"), Port: new(port), Protocol: new(corev1.ProtocolTCP)}},
		Endpoints: []discoveryv1.Endpoint{{
			Addresses:  []string{endpoint.String()},
			Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
			NodeName:   new(nodeName(int(endpoint.As4()[3]))),
			TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: crowdNamespace, Name: name + "-6d4cf56db6-x7k2p"},
		}},
	}
	_, err := c.client.DiscoveryV1().EndpointSlices(crowdNamespace).Create(ctx, slice, metav1.CreateOptions{})
	return err
}
