package kubernetes

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

func TestAnnotatedService(t *testing.T) {
	const (
		one   = `{name: main, port: 6379, targetPort: 16379}`
		two   = `{name: metrics, port: 9090}, {name: web, port: 443}`
		named = `{name: metrics, port: 9090}, {name: https, port: 8443}`
		no443 = `{name: metrics, port: 9090}, {name: dns, port: 53, protocol: UDP}`
	)
	for _, tt := range []struct{ name, annotations, ports, want string }{
		{"not annotated", ``, one, ""},
		{"the only port", `tlsprobe.io/probe: tls`, one, "tls redis.db.svc:6379"},
		{"443", `tlsprobe.io/probe: tls`, two, "tls redis.db.svc:443"},
		{"https", `tlsprobe.io/probe: tls`, named, "tls redis.db.svc:8443"},
		{"by number", `tlsprobe.io/probe: tls, tlsprobe.io/port: "9090"`, two, "tls redis.db.svc:9090"},
		{"by name", `tlsprobe.io/probe: tls, tlsprobe.io/port: metrics`, two, "tls redis.db.svc:9090"},
		{"by default http", `tlsprobe.io/probe: http, tlsprobe.io/port: metrics`, two, "http http://redis.db.svc:9090/"},
		{"https by its port", `tlsprobe.io/probe: http`, two, "http https://redis.db.svc:443/"},
		{"https by its name", `tlsprobe.io/probe: http_2xx, tlsprobe.io/path: "/healthz?a=b"`, named, "http_2xx https://redis.db.svc:8443/healthz?a=b"},
		{"another module with a path", `tlsprobe.io/probe: web, tlsprobe.io/path: healthz`, two, "web https://redis.db.svc:443/healthz"},
		{"another module", `tlsprobe.io/probe: internal_tls`, one, "internal_tls redis.db.svc:6379"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := parse(t, "kind: Service\nmetadata: {name: redis, namespace: db, annotations: {"+tt.annotations+"}}\nspec: {clusterIP: 10.96.0.8, ports: ["+tt.ports+"]}\n")
			o.unread["endpointslices"] = true
			var got string
			for _, target := range ofKind(t, kindService, o) {
				got += target.Module.Name + " " + target.Address
				if target.Name != "service/db/redis" || target.Undialled || len(target.Faults) > 0 || len(target.Routes) != 1 {
					t.Errorf("%+v", target)
				}
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	for _, tt := range []struct{ annotations, want string }{
		{`tlsprobe.io/probe: tls, tlsprobe.io/path: /x`, "redis.db.svc:6379"},
		{`tlsprobe.io/probe: http, tlsprobe.io/path: "/%zz"`, "http://redis.db.svc:6379/"},
	} {
		o := parse(t, "kind: Service\nmetadata: {name: redis, namespace: db, annotations: {"+tt.annotations+"}}\nspec: {clusterIP: 10.96.0.8, ports: ["+one+"]}\n")
		o.unread["endpointslices"] = true
		target := ofKind(t, kindService, o)[0]
		if len(target.Faults) != 1 || target.Faults[0].Reason.ID != "annotation_invalid" || target.Address != tt.want {
			t.Errorf("%s: %q", tt.annotations, lines([]*probe.Target{target}))
		}
	}
	t.Run("no port", func(t *testing.T) {
		wantLines(t, ofKind(t, kindService, parse(t, "kind: Service\nmetadata: {name: redis, namespace: db, annotations: {tlsprobe.io/probe: tls}}\nspec: {clusterIP: 10.96.0.8, ports: ["+no443+"]}\n")), `
service/db/redis tls redis.db.svc:443 undialled
  target_misconfigured: Service db/redis: metadata.annotations[tlsprobe.io/port] is missing, and of the Service's ports none is 443 or https
`)
	})
	t.Run("wrong port", func(t *testing.T) {
		wantLines(t, ofKind(t, kindService, parse(t, "kind: Service\nmetadata: {name: redis, namespace: db, annotations: {tlsprobe.io/probe: tls, tlsprobe.io/port: web}}\nspec: {clusterIP: 10.96.0.8, ports: ["+one+"]}\n")), `
service/db/redis tls redis.db.svc:443 undialled
  service_port_not_found: Service db/redis: metadata.annotations[tlsprobe.io/port] names port web, which Service db/redis does not have
`)
	})
}

// A module that only the agents' configuration knows has its name alone.
func TestAnnotatedModule(t *testing.T) {
	o := parse(t, `
kind: Service
metadata: {name: redis, namespace: db, annotations: {tlsprobe.io/probe: internal, tlsprobe.io/server-name: redis.example.com}}
spec: {clusterIP: 10.96.0.8, ports: [{port: 6379}]}
---
kind: Service
metadata: {name: web, namespace: db, annotations: {tlsprobe.io/probe: tls}}
spec: {clusterIP: 10.96.0.9, ports: [{port: 443}]}
`)
	targets := ofKind(t, kindService, o)
	if m := targets[0].Module; m.Name != "internal" || m.Kind != "" || m.Prober != nil {
		t.Errorf("unknown module: %+v", m)
	}
	if m := targets[1].Module; m.Kind != "tls" || m.Prober == nil {
		t.Errorf("built-in module: %+v", m)
	}
	if got := targets[0].ServerName; got != "redis.example.com" {
		t.Errorf("server name %q", got)
	}
	want := map[string]string{"kind": "service", "namespace": "db", "service": "redis"}
	if diff := cmp.Diff(want, targets[0].Labels.Map()); diff != "" {
		t.Errorf("labels differ (-want +got):\n%s", diff)
	}
}

// What a Service asks for in vain is said once, by whatever target it has.
func TestMisannotatedService(t *testing.T) {
	const undialled = "service/db/redis tls redis.db.svc:443 undialled\n  annotation_invalid: Service db/redis: metadata.annotations["
	for _, tt := range []struct{ annotations, port, want string }{
		{`tlsprobe.io/ignore: "false"`, "6379", ""},
		{`tlsprobe.io/prob: tls`, "6379", undialled + "tlsprobe.io/prob] is none that tlsprobe knows"},
		{`tlsprobe.io/prob: tls, tlsprobe.io/ignore: "true"`, "6379", ""},
		{`tlsprobe.io/probe: ""`, "6379", undialled + `tlsprobe.io/probe] is "", and has no effect`},
		{`tlsprobe.io/path: /x`, "6379", undialled + `tlsprobe.io/path] is "/x", and has no effect`},
		{`tlsprobe.io/prob: tls`, "4317", `
otlp/db/redis/main otlp_grpc redis.db.svc:4317
  ClusterIP of db/redis 10.96.0.8:4317
  annotation_invalid: Service db/redis: metadata.annotations[tlsprobe.io/prob] is none that tlsprobe knows`},
	} {
		t.Run(tt.annotations, func(t *testing.T) {
			o := parse(t, "kind: Service\nmetadata: {name: redis, namespace: db, annotations: {"+tt.annotations+"}}\nspec: {clusterIP: 10.96.0.8, ports: [{name: main, port: "+tt.port+"}]}\n")
			o.unread["endpointslices"], o.unread["peerauthentications"] = true, true
			wantLines(t, build(testConfig(), o).Common, tt.want)
		})
	}
}
