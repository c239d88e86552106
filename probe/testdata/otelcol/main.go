// Command otelcol runs the OpenTelemetry collector's OTLP receiver, and drops
// what it receives. The receiver's configuration is read from standard input, in
// the collector's YAML up to a line "---"; the end of standard input says that it
// may stop. The receiver logs to standard error, in JSON, also where it listens;
// "ready" there says that all of it does.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.uber.org/zap"
)

func main() {
	if err := run(context.Background(), os.Stdin); err != nil {
		log.Fatal(err)
	}
}

// run receives until in ends.
func run(ctx context.Context, in io.Reader) error {
	lines := bufio.NewScanner(in)
	var text strings.Builder
	for lines.Scan() && lines.Text() != "---" {
		fmt.Fprintln(&text, lines.Text())
	}
	receivers, err := newReceivers(ctx, []byte(text.String()))
	if err != nil {
		return err
	}
	for _, r := range receivers {
		if err := r.Start(ctx, componenttest.NewNopHost()); err != nil {
			return err
		}
	}
	fmt.Fprintln(os.Stderr, "ready")
	for lines.Scan() {
	}
	for _, r := range receivers {
		if err := r.Shutdown(ctx); err != nil {
			return err
		}
	}
	return lines.Err()
}

// newReceivers makes the receivers of traces, metrics and logs, which share their
// ports.
func newReceivers(ctx context.Context, text []byte) ([]component.Component, error) {
	factory := otlpreceiver.NewFactory()
	cfg := factory.CreateDefaultConfig()
	parsed, err := confmap.NewRetrievedFromYAML(text)
	if err != nil {
		return nil, err
	}
	conf, err := parsed.AsConf()
	if err != nil {
		return nil, err
	}
	if err := conf.Unmarshal(cfg); err != nil {
		return nil, err
	}
	set := receiver.Settings{
		ID:                component.NewID(factory.Type()),
		TelemetrySettings: componenttest.NewNopTelemetrySettings(),
	}
	if set.Logger, err = zap.NewProduction(); err != nil {
		return nil, err
	}
	traces, err := factory.CreateTraces(ctx, set, cfg, consumertest.NewNop())
	if err != nil {
		return nil, err
	}
	metrics, err := factory.CreateMetrics(ctx, set, cfg, consumertest.NewNop())
	if err != nil {
		return nil, err
	}
	logs, err := factory.CreateLogs(ctx, set, cfg, consumertest.NewNop())
	return []component.Component{traces, metrics, logs}, err
}
