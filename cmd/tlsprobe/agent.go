package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/common/version"

	"tlsprobe/probe/discover"
)

const agentHelp = `It probes the configuration's targets on schedule and serves what it finds: /metrics for Prometheus,
/probe?target=NAME for people, / for the rest. SIGHUP, POST /-/reload and a change of the file's content
reload the configuration; one that is bad changes nothing. SIGTERM ends it within a second.

Examples:
  tlsprobe agent --config.file=/etc/tlsprobe/config.yaml
  tlsprobe agent --config.file=config.yaml --web.listen-address=127.0.0.1:9790 --log.format=json
`

// agentFlags are the command line of tlsprobe agent.
type agentFlags struct {
	daemonFlags
	node        string
	concurrency int
}

func addAgent(app *kingpin.Application) {
	cmd := app.Command("agent", "Probe on schedule, as a daemon, and serve the results.").HelpLong(agentHelp)
	f := &agentFlags{}
	cmd.Flag("config.file", "Configuration file.").Required().PlaceHolder("FILE").StringVar(&f.configFile)
	cmd.Flag("node.name", "Name of the node that is probed from. Default: $NODE_NAME, else the host name.").
		PlaceHolder("NAME").StringVar(&f.node)
	cmd.Flag("probe.concurrency", "At most this many probes at once.").Default("1000").IntVar(&f.concurrency)
	f.addTo(cmd, f.run)
}

// defaultNode returns the name of the machine that is probed from.
func defaultNode() string {
	host, _ := os.Hostname() // without one, the results name no node
	return cmp.Or(os.Getenv("NODE_NAME"), host)
}

// run is the agent until ctx is done.
func (f *agentFlags) run(ctx context.Context) error {
	if f.concurrency < 1 {
		return fmt.Errorf("--probe.concurrency=%d: write at least 1", f.concurrency)
	}
	useOneProcessor()
	log := promslog.New(&f.log)
	node := cmp.Or(f.node, defaultNode())
	log.Info("Starting tlsprobe", "version", version.Info(), "build", version.BuildContext(), "node", node)

	file := &configFile{path: f.configFile, log: log, parse: discover.Parse}
	a := newAgent(agentConfig{log: log, node: node, concurrency: f.concurrency, reload: file.reload})
	file.apply, file.tried = a.apply, a.handler.ConfigLoaded
	if file.reload() != nil {
		return &exit{exitProblem, nil} // the log has said it all
	}

	return serve(ctx, f.web, a.handler, log, a.run, file.watch)
}
