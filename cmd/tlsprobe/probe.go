package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"
	"golang.org/x/sync/errgroup"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

const probeHelp = `A target is a URL, host:port, a bare host (port 443), or, with --config.file, the name of one of its
targets. A URL is requested over TLS and its redirects are followed; anything else gets a TLS handshake.
The certificate is judged after the handshake, so that a probe leaves no line in the peer's log.

Examples:
  tlsprobe probe example.com
  tlsprobe probe https://example.com/healthz
  tlsprobe probe 10.0.0.7:10250 --ca-file=/etc/kubernetes/pki/ca.crt
  tlsprobe probe 10.96.44.10:443 --server-name=kong-validation.kong.svc --ca-file=kong-ca.crt
  tlsprobe probe --config.file=config.yaml kong-validation

Exit code: 0 all is well, 1 a problem was found, 2 wrong usage or trouble of the prober's own.
`

// probeFlags are the command line of tlsprobe probe.
type probeFlags struct {
	targets    []string
	configFile string
	module     string
	serverName string
	caFile     string
	certFile   string
	keyFile    string
	timeout    time.Duration // 0: the target's own
	format     string
	all        bool
}

func addProbe(app *kingpin.Application) {
	cmd := app.Command("probe", "Probe targets once, and explain what is found.").HelpLong(probeHelp)
	f := &probeFlags{}
	cmd.Arg("target", "What to probe: a URL, host:port, a host, or a name.").Required().StringsVar(&f.targets)
	cmd.Flag("config.file", "Configuration whose targets and modules can be named.").PlaceHolder("FILE").ExistingFileVar(&f.configFile)
	cmd.Flag("module", "How to probe: a built-in module or one of the file's. Default: http for a URL, else tls.").PlaceHolder("NAME").StringVar(&f.module)
	cmd.Flag("server-name", "The name to ask for (SNI) and to verify. Default: the target's host.").PlaceHolder("NAME").StringVar(&f.serverName)
	cmd.Flag("ca-file", "PEM file of the roots to trust. Default: the system's.").PlaceHolder("FILE").ExistingFileVar(&f.caFile)
	cmd.Flag("cert-file", "PEM file of the client certificate, with --key-file.").PlaceHolder("FILE").ExistingFileVar(&f.certFile)
	cmd.Flag("key-file", "PEM file of the client certificate's key.").PlaceHolder("FILE").ExistingFileVar(&f.keyFile)
	cmd.Flag("timeout", "How long a connection may take. Default: the target's own, else 10s.").PlaceHolder("10s").DurationVar(&f.timeout)
	cmd.Flag("format", "How to answer: text or json.").Default("text").EnumVar(&f.format, "text", "json")
	cmd.Flag("all-addresses", "Probe every address of the host, not only the first.").BoolVar(&f.all)
	cmd.Action(func(*kingpin.ParseContext) error {
		ctx, stop := interruptible()
		defer stop()
		return f.run(ctx, os.Stdout)
	})
}

// run probes all targets at once and writes what was found in their order.
func (f *probeFlags) run(ctx context.Context, w io.Writer) error {
	targets, err := f.resolve()
	if err != nil {
		return err
	}
	const atOnce = 16
	runner := probe.NewRunner(defaultNode())
	results := make([]*probe.Result, len(targets))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, t := range targets {
		group.Go(func() error {
			results[i] = runner.Run(ctx, t)
			return nil
		})
	}
	group.Wait() // no run fails
	if err := f.write(w, results); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return verdict(results)
}

func (f *probeFlags) write(w io.Writer, results []*probe.Result) error {
	for i, r := range results {
		view := exporter.View{Result: r, Live: true, Version: version.Version, Color: colored(w)}
		if f.format == "json" {
			if err := exporter.WriteJSON(w, view); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := exporter.WriteText(w, view); err != nil {
			return err
		}
	}
	return nil
}

// verdict returns what the exit code says of results.
func verdict(results []*probe.Result) error {
	failed := false
	for _, r := range results {
		switch worst := r.Worst(); {
		case r.Invalid != "":
			return fmt.Errorf("the probe of %q says nothing: %s", r.Target.Name, r.Invalid)
		case worst != nil && worst.Reason.ID == "prober_panic":
			return fmt.Errorf("the prober failed on %q: please report it with the output above", r.Target.Name)
		case !r.OK():
			failed = true
		}
	}
	if failed {
		return &exit{exitProblem, nil}
	}
	return nil
}

// check returns what is wrong with the flags as a whole.
func (f *probeFlags) check() error {
	if (f.certFile == "") != (f.keyFile == "") {
		return errors.New("--cert-file and --key-file go together: write both or neither")
	}
	if f.timeout < 0 {
		return fmt.Errorf("--timeout=%s is below zero: write how long a connection may take, as 10s", f.timeout)
	}
	return nil
}
