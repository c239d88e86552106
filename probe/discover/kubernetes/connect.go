package kubernetes

import (
	"fmt"

	"k8s.io/client-go/rest"
	_ "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

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
