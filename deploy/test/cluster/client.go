package cluster

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// REST returns how this process reaches the API, as one who may do everything.
func (c *Cluster) REST() (*rest.Config, error) {
	config, err := loadKubeconfig(c.Admin)
	if err != nil {
		return nil, err
	}
	config.Dial = c.ControlPlane.Dial
	config.QPS = -1 // no limit
	return config, nil
}

// Client returns a client of the API that may do everything, for what kubectl is too
// slow for or hides too much of.
func (c *Cluster) Client() (*kubernetes.Clientset, error) {
	config, err := c.REST()
	if err != nil {
		return nil, err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	return kubernetes.NewForConfig(config)
}
