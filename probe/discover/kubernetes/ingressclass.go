package kubernetes

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"tlsprobe/probe"
)

// annotationClass names the class of an Ingress, as it was done before there were
// IngressClass objects. Controllers look for it whether there is such an object or
// not.
const annotationClass = "kubernetes.io/ingress.class"

// unserved returns why nobody serves the Ingress.
func (b *builder) unserved(i *networkingv1.Ingress) []probe.Problem {
	served := len(addressesOf(i)) > 0
	if p := b.classFault(i, served); p != nil {
		return []probe.Problem{*p} // it explains why there is no address
	}
	if served {
		return nil
	}
	p := at(i, "status.loadBalancer.ingress").fault("ingress_no_address", "is empty")
	p.Expected = "the address that the controller's clients use"
	return []probe.Problem{p}
}

// classFault returns what is wrong with the class of the Ingress, nil if nothing is.
// Where a controller has given it an address, a class that the objects do not show
// is no fault: some controllers take what has an annotation, or no class at all.
func (b *builder) classFault(i *networkingv1.Ingress, served bool) *probe.Problem {
	if b.objects.unread["ingressclasses"] {
		return nil
	}
	var named string
	var where place
	switch {
	case i.Spec.IngressClassName != nil:
		named, where, served = *i.Spec.IngressClassName, at(i, "spec.ingressClassName"), false
	case i.Annotations[annotationClass] != "":
		named, where = i.Annotations[annotationClass], annotation(i, annotationClass)
	}
	known, byDefault := b.classes()
	switch {
	case served, named == "" && byDefault:
		return nil
	case named == "":
		p := at(i, "spec.ingressClassName").fault("ingress_class_not_found", "is missing, and no IngressClass is the default one")
		p.Expected = strings.Join(known, " or ")
		return &p
	}
	for _, class := range known {
		if class == named {
			return nil
		}
	}
	p := where.fault("ingress_class_not_found", "names IngressClass %q, which does not exist", named)
	p.Expected, p.Received = strings.Join(known, " or "), named
	return &p
}

// classes returns the names of the classes that there are, in order, and whether one
// of them is for Ingresses that name none.
func (b *builder) classes() (names []string, byDefault bool) {
	for _, c := range b.objects.ingressClasses {
		names = append(names, c.Name)
		byDefault = byDefault || c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true"
	}
	return names, byDefault
}
