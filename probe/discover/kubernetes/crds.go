package kubernetes

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Kinds that k8s.io/api does not have, with the fields that are used. Their own
// modules would bring far more than these.

// An object is one of them.
type object[Spec, Status any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   Spec   `json:"spec"`
	Status Status `json:"status"`
}

// DeepCopyObject implements [runtime.Object]. Objects are read-only, so that spec
// and status may be shared.
func (o *object[Spec, Status]) DeepCopyObject() runtime.Object {
	c := *o
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// An objectList is a list of them.
type objectList[Spec, Status any] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []object[Spec, Status] `json:"items"`
}

// DeepCopyObject implements [runtime.Object]; the items are shared.
func (l *objectList[Spec, Status]) DeepCopyObject() runtime.Object {
	c := *l
	return &c
}

type none struct{}

// serviceReference names a Service. Port 0 stands for 443, as in the API.
type serviceReference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Port      *int32 `json:"port"`
}

// apiextensions.k8s.io/v1 CustomResourceDefinition.
type (
	customResourceDefinition = object[crdSpec, none]
	crdSpec                  struct {
		Conversion *struct {
			Webhook *struct {
				ClientConfig *struct {
					URL      *string           `json:"url"`
					Service  *serviceReference `json:"service"`
					CABundle []byte            `json:"caBundle"`
				} `json:"clientConfig"`
			} `json:"webhook"`
		} `json:"conversion"`
	}
)

// apiregistration.k8s.io/v1 APIService.
type (
	apiService     = object[apiServiceSpec, none]
	apiServiceSpec struct {
		Service               *serviceReference `json:"service"`
		InsecureSkipTLSVerify bool              `json:"insecureSkipTLSVerify"`
		CABundle              []byte            `json:"caBundle"`
	}
)

// gateway.networking.k8s.io/v1 Gateway.
type (
	gateway     = object[gatewaySpec, gatewayStatus]
	gatewaySpec struct {
		Listeners []gatewayListener `json:"listeners"`
	}
	gatewayListener struct {
		Name     string `json:"name"`
		Hostname string `json:"hostname"` // "": any; may begin with *.
		Port     int32  `json:"port"`
		Protocol string `json:"protocol"` // HTTP, HTTPS, TLS, TCP, UDP
	}
	gatewayStatus struct {
		Addresses []struct {
			Type  string `json:"type"` // IPAddress, Hostname
			Value string `json:"value"`
		} `json:"addresses"`
	}
)

// gateway.networking.k8s.io/v1 HTTPRoute.
type (
	httpRoute     = object[httpRouteSpec, httpRouteStatus]
	httpRouteSpec struct {
		ParentRefs []parentRef `json:"parentRefs"`
		Hostnames  []string    `json:"hostnames"`
	}
	httpRouteStatus struct {
		Parents []struct {
			ParentRef  parentRef `json:"parentRef"`
			Conditions []struct {
				Type   string `json:"type"` // Accepted, ResolvedRefs
				Status string `json:"status"`
			} `json:"conditions"`
		} `json:"parents"`
	}
	parentRef struct {
		Group       *string `json:"group"`
		Kind        *string `json:"kind"`
		Namespace   *string `json:"namespace"` // nil: the route's own
		Name        string  `json:"name"`
		SectionName *string `json:"sectionName"` // a listener; nil: all that fit
		Port        *int32  `json:"port"`
	}
)

// acme.cert-manager.io/v1 Challenge.
type (
	challenge     = object[challengeSpec, challengeStatus]
	challengeSpec struct {
		Type    string `json:"type"` // HTTP-01, DNS-01
		DNSName string `json:"dnsName"`
		Token   string `json:"token"`
		Key     string `json:"key"` // the key authorization (RFC 8555, Section 8.1)
	}
	challengeStatus struct {
		Presented bool   `json:"presented"`
		State     string `json:"state"` // pending, valid, invalid, ...
		Reason    string `json:"reason"`
	}
)

// security.istio.io/v1 PeerAuthentication.
type (
	peerAuthentication     = object[peerAuthenticationSpec, none]
	peerAuthenticationSpec struct {
		Selector *struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
		MTLS          *mutualTLS            `json:"mtls"`
		PortLevelMTLS map[string]*mutualTLS `json:"portLevelMtls"` // by the pod's port
	}
	mutualTLS struct {
		Mode string `json:"mode"` // STRICT, PERMISSIVE, DISABLE, UNSET
	}
)

// servicePort names a port of a Service by number, or by name if number is 0.
func servicePort(number int32, name string) intstr.IntOrString {
	if number == 0 {
		return intstr.FromString(name)
	}
	return intstr.FromInt32(number)
}
