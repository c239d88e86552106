package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// dnsAddress is the ClusterIP of the cluster's DNS, which pods ask.
const dnsAddress = "10.96.0.10"

// A DNS answers for the cluster's Services, as CoreDNS would, and for further names
// that a test gives it. It asks the API anew for each question.
type DNS struct {
	server string
	client *http.Client
	conn   net.PacketConn

	mu    sync.Mutex
	hosts map[string]netip.Addr // by name, with a dot at its end
}

// dnsObjects are what makes pods find it: a Service without a selector, whose one
// endpoint is on the control plane host.
const dnsObjects = `
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec:
  clusterIP: %s
  ports: [{name: dns, port: 53, protocol: UDP}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: kube-dns, namespace: kube-system, labels: {kubernetes.io/service-name: kube-dns}}
addressType: IPv4
ports: [{name: dns, port: 53, protocol: UDP}]
endpoints: [{addresses: [%q]}]
`

// StartDNS starts the cluster's DNS.
func (c *Cluster) StartDNS() error {
	client, err := c.httpClient()
	if err != nil {
		return err
	}
	d := &DNS{server: c.Server, client: client, hosts: map[string]netip.Addr{}}
	address := netip.AddrPortFrom(c.ControlPlane.Address, 53)
	err = c.ControlPlane.Do(func() error {
		d.conn, err = net.ListenPacket("udp", address.String())
		return err
	})
	if err != nil {
		return err
	}
	c.DNS = d
	go d.serve()
	return c.Apply(fmt.Sprintf(dnsObjects, dnsAddress, c.ControlPlane.Address))
}

// SetHost makes a name outside of the cluster lead to an address.
func (d *DNS) SetHost(name string, address netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hosts[strings.TrimSuffix(name, ".")+"."] = address
}

func (d *DNS) close() error {
	d.client.CloseIdleConnections()
	return d.conn.Close()
}

// serve answers until the socket is closed.
func (d *DNS) serve() {
	buffer := make([]byte, 1<<12)
	for {
		n, from, err := d.conn.ReadFrom(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		var question dnsmessage.Message
		if err != nil || question.Unpack(buffer[:n]) != nil || len(question.Questions) != 1 {
			continue
		}
		go d.answer(question, from)
	}
}

func (d *DNS) answer(message dnsmessage.Message, to net.Addr) {
	question := message.Questions[0]
	addresses, err := d.lookup(strings.ToLower(question.Name.String()))
	message.Response, message.Authoritative, message.RecursionAvailable = true, true, true
	message.Additionals = nil // EDNS is not spoken
	switch {
	case err != nil:
		message.RCode = dnsmessage.RCodeServerFailure
	case addresses == nil:
		message.RCode = dnsmessage.RCodeNameError
	case question.Type == dnsmessage.TypeA:
		for _, address := range addresses {
			message.Answers = append(message.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: 1},
				Body:   &dnsmessage.AResource{A: address.As4()},
			})
		}
	}
	if packed, err := message.Pack(); err == nil {
		_, _ = d.conn.WriteTo(packed, to) // who does not get it asks again
	}
}

// lookup returns nil if there is no such name.
func (d *DNS) lookup(name string) ([]netip.Addr, error) {
	d.mu.Lock()
	host, ok := d.hosts[name]
	d.mu.Unlock()
	if ok {
		return []netip.Addr{host}, nil
	}
	service, inCluster := strings.CutSuffix(name, ".svc.cluster.local.")
	service, namespace, two := strings.Cut(service, ".")
	if !inCluster || !two || strings.Contains(namespace, ".") {
		return nil, nil
	}
	return d.service(namespace, service)
}

// service returns the ClusterIP of a Service, or its endpoints if it is headless.
func (d *DNS) service(namespace, name string) ([]netip.Addr, error) {
	var services struct {
		Items []struct{ Spec struct{ ClusterIP string } }
	}
	if err := d.get("/api/v1/namespaces/"+namespace+"/services?fieldSelector=metadata.name="+name, &services); err != nil || len(services.Items) == 0 {
		return nil, err
	}
	if ip, err := netip.ParseAddr(services.Items[0].Spec.ClusterIP); err == nil {
		return []netip.Addr{ip}, nil
	}
	var slices struct {
		Items []struct {
			Endpoints []struct {
				Addresses  []netip.Addr
				Conditions struct{ Ready *bool }
			}
		}
	}
	if err := d.get("/apis/discovery.k8s.io/v1/namespaces/"+namespace+"/endpointslices?labelSelector=kubernetes.io/service-name="+name, &slices); err != nil {
		return nil, err
	}
	addresses := []netip.Addr{}
	for _, slice := range slices.Items {
		for _, endpoint := range slice.Endpoints {
			if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
				addresses = append(addresses, endpoint.Addresses...)
			}
		}
	}
	return addresses, nil
}

func (d *DNS) get(path string, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.server+path, nil)
	if err != nil {
		return err
	}
	return do(d.client, request, into)
}
