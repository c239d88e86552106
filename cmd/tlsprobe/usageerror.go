package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"tlsprobe/probe"
)

// parse runs the command that args name. kingpin's words for a wrong command line
// leave out which flag a value is of and what to write instead: they are added.
func parse(app *kingpin.Application, args []string) error {
	if err := unknownCommand(app, args[0]); err != nil {
		return err
	}
	context, err := app.ParseContext(args)
	if err != nil {
		return wrongWord(app.GetCommand(args[0]), err)
	}
	_, err = app.Parse(args)
	return wrongValue(context, err)
}

// wrongWord puts err, which is about a word that stands where it cannot, into
// words that help.
func wrongWord(cmd *kingpin.CmdClause, err error) error {
	if flag, ok := strings.CutPrefix(err.Error(), "unknown long flag '--"); ok {
		return unknownFlag(cmd, strings.TrimSuffix(flag, "'"))
	}
	if extra, ok := strings.CutPrefix(err.Error(), "unexpected "); ok {
		return fmt.Errorf("%q is one argument too many: quote an argument that holds spaces", extra)
	}
	return err
}

func unknownCommand(app *kingpin.Application, name string) error {
	if strings.HasPrefix(name, "-") || name == "help" || app.GetCommand(name) != nil {
		return nil
	}
	var names []string
	for _, c := range app.Model().Commands {
		names = append(names, c.Name)
	}
	return fmt.Errorf("no command is called %q: %s", name, suggest(name, names))
}

func unknownFlag(cmd *kingpin.CmdClause, name string) error {
	var names []string
	if cmd != nil {
		for _, f := range cmd.Model().Flags {
			names = append(names, f.Name)
		}
	}
	near := probe.Nearest(name, names)
	if len(near) == 0 {
		return fmt.Errorf("no flag is called --%s: --help lists the flags", name)
	}
	return fmt.Errorf("no flag is called --%s: did you mean --%s?", name, strings.Join(near, ", --"))
}

// suggest offers the names that may have been meant, else all of them.
func suggest(name string, names []string) string {
	if near := probe.Nearest(name, names); len(near) > 0 {
		return fmt.Sprintf("did you mean %s?", strings.Join(near, ", "))
	}
	return fmt.Sprintf("write one of %s", strings.Join(names, ", "))
}

// wrongValue adds to err the flag whose value it is about, and an example; it
// returns err as it is if no flag's value is wrong.
func wrongValue(context *kingpin.ParseContext, err error) error {
	if err == nil {
		return nil
	}
	for _, element := range context.Elements {
		clause, ok := element.Clause.(*kingpin.FlagClause)
		if !ok || element.Value == nil {
			continue
		}
		flag := clause.Model()
		if fault := flag.Value.Set(*element.Value); fault == nil || fault.Error() != err.Error() {
			continue
		}
		example := flag.PlaceHolder
		if len(flag.Default) > 0 {
			example = flag.Default[0]
		}
		return fmt.Errorf("--%s=%s: %w: write it as in --%s=%s", flag.Name, *element.Value, err, flag.Name, example)
	}
	return err
}
