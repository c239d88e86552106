package cluster

import (
	"context"
	"net/http"

	"k8s.io/client-go/rest"
)

// StartAPIServer starts the API server, the first time or again, and returns when it
// is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	process, err := c.Processes.Start("kube-apiserver", c.ControlPlane.Command(context.Background(),
		c.Programs.Path("kube-apiserver"), append(c.apiServerFlags(), c.flags...)...))
	if err != nil {
		return err
	}
	c.apiServer = process
	client, err := c.httpClient()
	if err != nil {
		return err
	}
	return c.awaitHTTP(ctx, process, client, c.Server+"/readyz")
}

// KillAPIServer ends the API server at once, as a crash would: it says goodbye to
// nobody. Etcd keeps running.
func (c *Cluster) KillAPIServer() { c.apiServer.Kill() }

// APIServer is the process that runs, or was killed last.
func (c *Cluster) APIServer() *Process { return c.apiServer }

func (c *Cluster) apiServerFlags() []string {
	file := c.PKI.File
	return []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=" + c.ControlPlane.Address.String(),
		"--advertise-address=" + c.ControlPlane.Address.String(),
		"--secure-port=" + serverPort,
		"--service-cluster-ip-range=" + serviceNetwork,
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--client-ca-file=" + file("ca.crt"),
		"--tls-cert-file=" + file("apiserver.crt"),
		"--tls-private-key-file=" + file("apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + file("sa.pub"),
		"--service-account-signing-key-file=" + file("sa.key"),
		"--kubelet-client-certificate=" + file("apiserver-kubelet-client.crt"),
		"--kubelet-client-key=" + file("apiserver-kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP,Hostname",
		"--requestheader-client-ca-file=" + file("front-proxy-ca.crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + file("front-proxy-client.crt"),
		"--proxy-client-key-file=" + file("front-proxy-client.key"),
	}
}

func (c *Cluster) httpClient() (*http.Client, error) {
	config, err := c.REST()
	if err != nil {
		return nil, err
	}
	return rest.HTTPClientFor(config)
}
