package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
)

// An apiServer speaks as much of the Kubernetes API as a watch needs, in JSON. Its
// connections are pipes, so that a test can have time of its own.
type apiServer struct {
	listener *pipeListener

	mu        sync.Mutex
	changed   chan struct{} // is closed with each change
	version   int
	kinds     map[string]*apiKind // by path
	refuses   bool                // connections
	silent    bool                // to those who connect
	cuts      int                 // how often all watches were ended
	expired   int                 // versions below it are forgotten
	oldServer bool                // does not stream lists
	requests  map[string]int      // by path
	longest   int                 // list that was sent at once
}

// An apiKind is one kind of object on the API server.
type apiKind struct {
	name      string
	path      string
	status    int  // if not 200, what requests are answered by
	unwatched bool // it may be listed, but not watched
	objects   map[string]map[string]any
	events    []apiEvent
}

type apiEvent struct {
	version int
	Type    string         `json:"type"`
	Object  map[string]any `json:"object"`
}

// apiPaths are where the API has each kind.
var apiPaths = map[string]string{
	"ValidatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
	"MutatingWebhookConfiguration":   "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
	"CustomResourceDefinition":       "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	"APIService":                     "/apis/apiregistration.k8s.io/v1/apiservices",
	"Node":                           "/api/v1/nodes",
	"Service":                        "/api/v1/services",
	"EndpointSlice":                  "/apis/discovery.k8s.io/v1/endpointslices",
	"Ingress":                        "/apis/networking.k8s.io/v1/ingresses",
	"IngressClass":                   "/apis/networking.k8s.io/v1/ingressclasses",
	"Gateway":                        "/apis/gateway.networking.k8s.io/v1/gateways",
	"HTTPRoute":                      "/apis/gateway.networking.k8s.io/v1/httproutes",
	"Challenge":                      "/apis/acme.cert-manager.io/v1/challenges",
	"PeerAuthentication":             "/apis/security.istio.io/v1/peerauthentications",
	"CertificateSigningRequest":      "/apis/certificates.k8s.io/v1/certificatesigningrequests",
}

func newAPIServer(t *testing.T) *apiServer {
	a := &apiServer{
		listener: &pipeListener{accept: make(chan net.Conn), closed: make(chan struct{})},
		changed:  make(chan struct{}),
		version:  1,
		kinds:    map[string]*apiKind{},
		requests: map[string]int{},
	}
	for name, path := range apiPaths {
		a.kinds[path] = &apiKind{name: name, path: path, status: http.StatusOK, objects: map[string]map[string]any{}}
	}
	server := &http.Server{Handler: a}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve(a.listener)
	}()
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	return a
}

// connection says how to reach it.
func (a *apiServer) connection() *rest.Config {
	return &rest.Config{Host: "http://api.example", Dial: a.dial}
}

func (a *apiServer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	a.mu.Lock()
	refuses, silent := a.refuses, a.silent
	a.mu.Unlock()
	if refuses {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	if silent {
		sleep(ctx, 30*time.Second)
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	}
	return a.listener.dial(ctx)
}

// edit changes something, and wakes all watches.
func (a *apiServer) edit(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
	close(a.changed)
	a.changed = make(chan struct{})
}

// put creates or replaces objects, written in YAML.
func (a *apiServer) put(t *testing.T, documents string) {
	t.Helper()
	for document := range strings.SplitSeq(documents, "\n---") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		a.edit(func() { a.store(object) })
	}
}

func (a *apiServer) store(object map[string]any) {
	kind := a.kinds[apiPaths[object["kind"].(string)]]
	meta := object["metadata"].(map[string]any)
	name := fmt.Sprint(meta["namespace"], "/", meta["name"])
	event := apiEvent{Type: "ADDED", Object: object}
	if kind.objects[name] != nil {
		event.Type = "MODIFIED"
	}
	a.version++
	event.version = a.version
	meta["resourceVersion"] = strconv.Itoa(a.version)
	kind.objects[name] = object
	kind.events = append(kind.events, event)
}

// remove deletes an object: "Ingress", "shop/web".
func (a *apiServer) remove(kind, name string) {
	a.edit(func() {
		k := a.kinds[apiPaths[kind]]
		if !strings.Contains(name, "/") {
			name = "<nil>/" + name
		}
		a.version++
		last := maps.Clone(k.objects[name])
		meta := maps.Clone(last["metadata"].(map[string]any))
		meta["resourceVersion"] = strconv.Itoa(a.version)
		last["metadata"] = meta
		k.events = append(k.events, apiEvent{a.version, "DELETED", last})
		delete(k.objects, name)
	})
}

// answer makes requests for the kind be answered by this status, and ends watches.
func (a *apiServer) answer(kind string, status int) {
	a.edit(func() {
		a.kinds[apiPaths[kind]].status = status
		a.cuts++
	})
}

// asked returns how many requests there were for the kind.
func (a *apiServer) asked(kind string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests[apiPaths[kind]]
}

// disconnect cuts all connections.
func (a *apiServer) disconnect() { a.listener.cut() }

// ServeHTTP implements [http.Handler].
func (a *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	a.mu.Lock()
	a.requests[r.URL.Path]++
	kind, old := a.kinds[r.URL.Path], a.oldServer
	status, unwatched := kind.status, kind.unwatched
	a.mu.Unlock()
	switch {
	case status != http.StatusOK:
		refuse(w, r, status)
	case unwatched && query.Get("watch") != "":
		refuse(w, r, http.StatusForbidden)
	case query.Get("watch") == "":
		a.list(w, kind, query)
	case old && query.Get("sendInitialEvents") != "":
		refuse(w, r, http.StatusUnprocessableEntity)
	default:
		a.watch(w, r, kind, query)
	}
}

// refuse answers with a Status, as the API server words it.
func refuse(w http.ResponseWriter, r *http.Request, code int) {
	reasons := map[int]string{403: "Forbidden", 404: "NotFound", 422: "Invalid", 429: "TooManyRequests", 500: "InternalError"}
	message := http.StatusText(code)
	if code == http.StatusForbidden {
		message = fmt.Sprintf("%s is forbidden: User %q cannot list resource", path.Base(r.URL.Path), "hub")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": message, "reason": reasons[code], "code": code,
	})
}

// list answers with a page of the list.
func (a *apiServer) list(w http.ResponseWriter, kind *apiKind, query url.Values) {
	a.mu.Lock()
	defer a.mu.Unlock()
	names := slices.Sorted(maps.Keys(kind.objects))
	from, _ := strconv.Atoi(query.Get("continue"))
	list := kind.envelope("List", a.version)
	to := len(names)
	// Of a list from the API server's cache there are no pages.
	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 && to > from+limit && query.Get("resourceVersion") != "0" {
		to = from + limit
		list["metadata"].(map[string]any)["continue"] = strconv.Itoa(to)
	}
	a.longest = max(a.longest, to-from)
	items := []map[string]any{}
	for _, name := range names[from:to] {
		items = append(items, kind.objects[name])
	}
	list["items"] = items
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(list)
}

// envelope is an object or a list of the kind with nothing but a version.
func (k *apiKind) envelope(suffix string, version int) map[string]any {
	group := strings.TrimPrefix(strings.TrimPrefix(path.Dir(k.path), "/apis/"), "/api/")
	return map[string]any{
		"apiVersion": group,
		"kind":       k.name + suffix,
		"metadata":   map[string]any{"resourceVersion": strconv.Itoa(version)},
	}
}

// watch streams a list, if it is to, and then changes, until they are cut.
func (a *apiServer) watch(w http.ResponseWriter, r *http.Request, kind *apiKind, query url.Values) {
	w.Header().Set("Content-Type", "application/json")
	seen, _ := strconv.Atoi(query.Get("resourceVersion"))
	a.mu.Lock()
	cuts := a.cuts
	var initial []apiEvent
	if query.Get("sendInitialEvents") == "true" {
		initial, seen = kind.initial(a.version), a.version
	}
	a.mu.Unlock()
	for _, event := range initial {
		json.NewEncoder(w).Encode(event)
	}
	for {
		a.mu.Lock()
		changed, over := a.changed, a.cuts != cuts
		var events []apiEvent
		if seen < a.expired {
			events = []apiEvent{{a.version, "ERROR", map[string]any{
				"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410,
				"message": fmt.Sprintf("too old resource version: %d (%d)", seen, a.expired)}}}
			over = true
		}
		for _, event := range kind.events {
			if event.version > seen {
				events = append(events, event)
			}
		}
		seen = a.version
		a.mu.Unlock()
		for _, event := range events {
			json.NewEncoder(w).Encode(event)
		}
		w.(http.Flusher).Flush()
		if over {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// initial is the whole list as events, with the bookmark that ends it.
func (k *apiKind) initial(version int) []apiEvent {
	var events []apiEvent
	for _, object := range k.objects {
		events = append(events, apiEvent{version, "ADDED", object})
	}
	end := k.envelope("", version)
	end["metadata"].(map[string]any)["annotations"] = map[string]any{"k8s.io/initial-events-end": "true"}
	return append(events, apiEvent{version, "BOOKMARK", end})
}

// A pipeListener accepts the other ends of pipes.
type pipeListener struct {
	accept chan net.Conn
	mu     sync.Mutex
	open   []net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.accept <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// cut closes all connections.
func (l *pipeListener) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.open {
		conn.Close()
	}
	l.open = nil
}

// Accept implements [net.Listener].
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.accept:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open = append(l.open, conn)
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements [net.Listener].
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "api", Net: "unix"} }
