package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/alecthomas/kingpin/v2"

	"tlsprobe/probe/discover"
)

const checkConfigHelp = `It reports every error at once, each with file:line:column, the key, what is wrong and what to write
instead. A file that the configuration names and that cannot be used is a warning only, as it may be there
on the machine where the agent runs. Nothing is dialled.

Examples:
  tlsprobe check-config config.yaml
  tlsprobe check-config --hub hub.yaml

Exit code: 0 the file is good, 1 it has errors, 2 it cannot be read or wrong usage.
`

func addCheckConfig(app *kingpin.Application) {
	cmd := app.Command("check-config", "Check a configuration file and report all its errors.").HelpLong(checkConfigHelp)
	hub := cmd.Flag("hub", "It is the configuration of a hub.").Bool()
	file := cmd.Arg("file", "The configuration file.").Required().String()
	cmd.Action(func(*kingpin.ParseContext) error {
		if *hub {
			return checkConfig(os.Stdout, *file, discover.ParseHub)
		}
		return checkConfig(os.Stdout, *file, discover.Parse)
	})
}

func checkConfig(w io.Writer, file string, parse func(string, []byte) (*discover.Config, error)) error {
	config, err := readConfig(file, parse)
	var wrong discover.Errors
	if errors.As(err, &wrong) {
		for _, e := range wrong {
			fmt.Fprintln(w, e)
		}
		fmt.Fprintf(w, "%s: %s\n", file, plural(len(wrong), "error"))
		return &exit{exitProblem, nil}
	}
	if err != nil {
		return err
	}
	for _, e := range slices.Concat(config.Warnings, config.CheckFiles()) {
		fmt.Fprintf(w, "warning: %v\n", e)
	}
	used := map[string]bool{}
	for _, t := range config.Targets {
		used[t.Module.Name] = true
	}
	fmt.Fprintf(w, "%s: good: %s, %s in use, %s\n",
		file, plural(len(config.Targets), "target"), plural(len(used), "module"), plural(len(config.Sources), "source"))
	return nil
}

// readConfig reads a configuration file.
func readConfig(file string, parse func(string, []byte) (*discover.Config, error)) (*discover.Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return parse(file, data)
}
