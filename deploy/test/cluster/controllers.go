package cluster

import "context"

// StartControllers starts the controller manager and the scheduler, which a cluster
// with nodes needs, and service accounts' root CA too.
func (c *Cluster) StartControllers(ctx context.Context) error {
	if err := c.startControllerManager(ctx); err != nil {
		return err
	}
	kubeconfig, err := c.Kubeconfig("system:kube-scheduler")
	if err != nil {
		return err
	}
	return c.startController(ctx, "kube-scheduler", "10259", kubeconfig)
}

func (c *Cluster) startControllerManager(ctx context.Context) error {
	kubeconfig, err := c.Kubeconfig("system:kube-controller-manager")
	if err != nil {
		return err
	}
	file := c.PKI.File
	return c.startController(ctx, "kube-controller-manager", "10257", kubeconfig,
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+file("sa.key"),
		"--root-ca-file="+file("ca.crt"),
		"--cluster-signing-cert-file="+file("ca.crt"),
		"--cluster-signing-key-file="+file("ca.key"),
		"--service-cluster-ip-range="+serviceNetwork,
		"--allocate-node-cidrs=false",
		"--node-monitor-grace-period=20s",
	)
}

// startController starts one of the two on its usual port, and waits until it is
// healthy.
func (c *Cluster) startController(ctx context.Context, name, port, kubeconfig string, flags ...string) error {
	flags = append([]string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--leader-elect=false",
		"--tls-cert-file=" + c.PKI.File("apiserver.crt"), // it covers 127.0.0.1, as all on this host need
		"--tls-private-key-file=" + c.PKI.File("apiserver.key"),
	}, flags...)
	process, err := c.Processes.Start(name, c.ControlPlane.Command(context.Background(), c.Programs.Path(name), flags...))
	if err != nil {
		return err
	}
	client, err := c.httpClient()
	if err != nil {
		return err
	}
	return c.awaitHTTP(ctx, process, client, "https://127.0.0.1:"+port+"/healthz")
}
