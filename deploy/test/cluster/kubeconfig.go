package cluster

import (
	"fmt"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig writes a kubeconfig for a user with a client certificate, and returns
// its file.
func (c *Cluster) Kubeconfig(user string, groups ...string) (string, error) {
	file := filepath.Join(c.Dir, strings.ReplaceAll(user, ":", "-")+".conf")
	return file, c.kubeconfigFor(file, user, groups...)
}

func (c *Cluster) kubeconfigFor(file, user string, groups ...string) error {
	pair, err := c.PKI.CA.Client(user, groups...)
	if err != nil {
		return err
	}
	key, err := keyPEM(pair.PrivateKey)
	if err != nil {
		return err
	}
	return c.writeKubeconfig(file, &clientcmdapi.AuthInfo{
		ClientCertificateData: certificatePEM(pair.Certificate[0]),
		ClientKeyData:         key,
	})
}

// AccountKubeconfig writes a kubeconfig with a token of a service account that
// exists, and returns its file.
func (c *Cluster) AccountKubeconfig(namespace, name string) (string, error) {
	token, err := c.Kubectl("create", "token", name, "--namespace="+namespace, "--duration=24h")
	if err != nil {
		return "", err
	}
	file := filepath.Join(c.Dir, fmt.Sprintf("account-%s-%s.conf", namespace, name))
	return file, c.writeKubeconfig(file, &clientcmdapi.AuthInfo{Token: strings.TrimSpace(token)})
}

func loadKubeconfig(file string) (*rest.Config, error) {
	return clientcmd.BuildConfigFromFlags("", file)
}

func (c *Cluster) writeKubeconfig(file string, user *clientcmdapi.AuthInfo) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"] = &clientcmdapi.Cluster{Server: c.Server, CertificateAuthorityData: c.PKI.CA.PEM()}
	config.AuthInfos["user"] = user
	config.Contexts["context"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: "user"}
	config.CurrentContext = "context"
	return clientcmd.WriteToFile(*config, file)
}
