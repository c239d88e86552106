package kubernetes

// apiServices makes a target of each aggregated API. Those without a Service are
// the API server's own.
func (b *builder) apiServices() {
	for _, s := range b.objects.apiServices {
		if s.Spec.Service == nil || !b.wants(kindAPIService, s) {
			continue
		}
		labels := map[string]string{"kind": kindAPIService, "apiservice": s.Name}
		if s.Spec.InsecureSkipTLSVerify {
			labels["insecure_skip_tls_verify"] = "true"
		}
		t := b.callee(kindAPIService+"/"+s.Name, callee{
			at:         at(s, "spec"),
			service:    s.Spec.Service,
			caBundle:   s.Spec.CABundle,
			unverified: s.Spec.InsecureSkipTLSVerify,
		}, labels)
		if t != nil {
			b.add(s, t)
		}
	}
}
