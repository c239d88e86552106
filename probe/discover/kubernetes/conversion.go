package kubernetes

// conversions makes a target of each webhook that converts custom resources from
// one version to another.
func (b *builder) conversions() {
	for _, crd := range b.objects.crds {
		c := crd.Spec.Conversion
		if c == nil || c.Webhook == nil || c.Webhook.ClientConfig == nil || !b.wants(kindConversion, crd) {
			continue
		}
		client := c.Webhook.ClientConfig
		t := b.callee(kindConversion+"/"+crd.Name, callee{
			at:       at(crd, "spec.conversion.webhook.clientConfig"),
			url:      client.URL,
			service:  client.Service,
			caBundle: client.CABundle,
		}, map[string]string{"kind": kindConversion, "crd": crd.Name})
		if t != nil {
			b.add(crd, t)
		}
	}
}
