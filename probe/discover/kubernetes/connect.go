package kubernetes

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// client-go logs through a global of the process, in a format of its own. All that
// it would say is in the [Status].
func init() { klog.SetSlogLogger(slog.New(slog.DiscardHandler)) }

// connection says how to reach the API.
func (c *Config) connection() (*rest.Config, error) {
	if c.Kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("finding the API of the cluster that this pod runs in: %w; outside of one, name a kubeconfig", err)
		}
		return config, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig %q: %w", c.Kubeconfig, err)
	}
	return config, nil
}

// clients are the connections to the API; they share what they can.
type clients struct {
	config *rest.Config
	http   *http.Client
	scheme *runtime.Scheme
}

func newClients(config *rest.Config) (*clients, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = "tlsprobe"
	config.QPS = -1 // there are few requests, and they are long
	config.WarningHandlerWithContext = rest.NoWarnings{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return brokenNoter{next} })
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to connect to the Kubernetes API at %s: %w", config.Host, err)
	}
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.Unversioned)
	return &clients{config: config, http: client, scheme: scheme}, nil
}

// of returns a client for the resource, whose objects and lists are like these.
func (c *clients) of(r resource, object, list runtime.Object) (rest.Interface, error) {
	version := schema.GroupVersion{Group: r.group, Version: "v1"}
	metav1.AddToGroupVersion(c.scheme, version)
	c.scheme.AddKnownTypeWithName(version.WithKind(r.kind), object)
	c.scheme.AddKnownTypeWithName(version.WithKind(r.kind+"List"), list)
	config := rest.CopyConfig(c.config)
	config.GroupVersion = &version
	config.APIPath = "/apis"
	if r.group == "" {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = serializer.NewCodecFactory(c.scheme).WithoutConversion()
	config.AcceptContentTypes = runtime.ContentTypeJSON
	if _, ok := object.(interface{ Unmarshal([]byte) error }); ok {
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	client, err := rest.RESTClientForConfigAndClient(config, c.http)
	if err != nil {
		return nil, fmt.Errorf("preparing to connect to the Kubernetes API at %s: %w", config.Host, err)
	}
	return client, nil
}

// clusterCA returns the certificates in PEM by which the API server is judged, ""
// if they are the system's.
func clusterCA(config *rest.Config) (string, error) {
	if len(config.CAData) > 0 || config.CAFile == "" {
		return string(config.CAData), nil
	}
	pem, err := os.ReadFile(config.CAFile)
	if err != nil {
		return "", fmt.Errorf("reading the CA of the Kubernetes API: %w", err)
	}
	return string(pem), nil
}

// A brokenNoter notes the error of a request that got no answer in its context:
// the client for watches passes some off as a watch that ended at once.
type brokenNoter struct{ next http.RoundTripper }

type brokenKey struct{}

func noteBroken(ctx context.Context, err *error) context.Context {
	return context.WithValue(ctx, brokenKey{}, err)
}

// RoundTrip implements [http.RoundTripper].
func (n brokenNoter) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := n.next.RoundTrip(request)
	if broken, ok := request.Context().Value(brokenKey{}).(*error); ok {
		*broken = err
	}
	return response, err
}
