package main

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/common/version"

	"tlsprobe/exporter"
	"tlsprobe/probe/discover"
	"tlsprobe/probe/discover/kubernetes"
	"tlsprobe/probe/schedule"
)

const hubHelp = `It watches the Kubernetes API and works out what there is to probe; it probes nothing itself. Agents whose
configuration has sources: [{http: {url: "http://HUB:9790/targets"}}] get the list of their node from it, and
keep it while the hub is away. Several hubs of one cluster do the same work and need no leader. SIGHUP,
POST /-/reload and a change of the file's content reload the configuration.

  /targets?node=NAME   the targets of that node; without node those that all nodes have
  /sd                  the same for Prometheus's http_sd_configs, by the names that /probe of an agent takes

Examples:
  tlsprobe hub --config.file=/etc/tlsprobe/config.yaml
  echo 'sources: [{kubernetes: {kubeconfig: /root/.kube/config}}]' >hub.yaml; tlsprobe hub --config.file=hub.yaml
`

// hubFlags are the command line of tlsprobe hub.
type hubFlags struct {
	daemonFlags
}

func addHub(app *kingpin.Application) {
	cmd := app.Command("hub", "Watch a cluster, as a daemon, and hand agents their targets.").HelpLong(hubHelp)
	f := &hubFlags{}
	cmd.Flag("config.file", "Configuration file; it has one source, kubernetes.").Required().PlaceHolder("FILE").StringVar(&f.configFile)
	f.addTo(cmd, f.run)
}

// run is the hub until ctx is done.
func (f *hubFlags) run(ctx context.Context) error {
	log := promslog.New(&f.log)
	log.Info("Starting the hub of tlsprobe", "version", version.Info(), "build", version.BuildContext())
	file := &configFile{path: f.configFile, log: log, parse: discover.ParseHub}
	h := newHub(log, file.reload)
	file.apply, file.tried = h.apply, h.handler.ConfigLoaded
	if file.reload() != nil {
		return &exit{exitProblem, nil} // the log has said it all
	}
	return serve(ctx, f.web, h.handler, log, h.run, file.watch)
}

// A hub joins the parts: the Kubernetes source of its configuration gives states of
// the cluster, each of which becomes the lists that are served.
type hub struct {
	log     *slog.Logger
	handler *exporter.Hub
	cluster atomic.Pointer[discover.KubernetesSource] // of the configuration in force
	changes newest                                    // configurations that run has not taken over yet
}

func newHub(log *slog.Logger, reload func() error) *hub {
	h := &hub{log: log, changes: newNewest()}
	h.handler = exporter.NewHub(exporter.HubConfig{
		Sources: h.sources,
		Reload:  reload,
		Version: version.Version,
		Log:     log,
	})
	return h
}

// apply makes c the configuration, which takes effect while run runs.
func (h *hub) apply(c *discover.Config) { h.changes.put(c) }

// run watches the cluster of the newest configuration until ctx is done. What was
// known before a change is handed out until the cluster has been read anew.
func (h *hub) run(ctx context.Context) {
	stop, current := func() {}, &discover.Config{}
	defer func() { stop() }()
	for {
		select {
		case <-ctx.Done():
			return
		case next := <-h.changes:
			stop()
			next.Inherit(current)
			stop, current = h.watch(ctx, next.Cluster()), next
		}
	}
}

// watch watches the cluster and returns what stops that and waits for it.
func (h *hub) watch(ctx context.Context, s *discover.KubernetesSource) (stop func()) {
	s.Pace, s.Resource = schedule.Pace, newWatchLog(h.log).note
	s.Report = func(status discover.SourceStatus) { logSource(h.log, status) }
	h.cluster.Store(s)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Watch(ctx, h.publish); err != nil {
			h.log.Error("The cluster is not watched any more; the lists stay as they are", "err", err)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// publish hands out what one state of the cluster makes.
func (h *hub) publish(c *kubernetes.Cluster) {
	head, err := discover.EncodeList(c.Common)
	if err != nil {
		h.log.Error("The list of targets cannot be written; the one before stays", "err", err)
		return
	}
	h.log.Debug("A new list", "nodes", c.Nodes, "targets", len(c.Common), "bytes", len(head))
	h.handler.Publish(exporter.Listing{Nodes: c.Nodes, Common: c.Common, Own: c.Own, Head: head, Tail: discover.EncodeOwn})
}

// sources returns how the source of the configuration fares.
func (h *hub) sources() []exporter.Source {
	s := h.cluster.Load()
	if s == nil {
		return nil
	}
	return []exporter.Source{kubernetesSource(s)}
}
