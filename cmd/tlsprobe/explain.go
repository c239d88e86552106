package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"tlsprobe/probe"
)

const explainHelp = `Without an argument it lists the catalogue. With a reason's id it says what that reason means, what it
breaks, what the other side logs, the causes, and what to type. With a line of a log it says which reason
the line stands for and which side wrote it; "-" reads such lines from standard input.

Examples:
  tlsprobe explain
  tlsprobe explain missing_ip_san
  tlsprobe explain 'http: TLS handshake error from 10.244.0.233:44430: EOF'
  kubectl -n kong logs deploy/kong | tlsprobe explain -

Exit code: 0 explained, 1 no reason matches the log line, 2 wrong usage.
`

func addExplain(app *kingpin.Application) {
	cmd := app.Command("explain", "Explain a reason, or find the reason of a log line.").HelpLong(explainHelp)
	args := cmd.Arg("reason", `A reason's id, a log line, or "-" for log lines on standard input.`).Strings()
	cmd.Action(func(*kingpin.ParseContext) error {
		subject := strings.Join(*args, " ")
		if len(*args) == 1 && subject == "" {
			subject = "-" // kingpin hands a lone dash over as an empty argument
		}
		return explain(os.Stdout, os.Stdin, subject)
	})
}

// explain writes to w what is known of subject: a reason's id, a log line, "-"
// for the lines of stdin, or "" for the list of all reasons.
func explain(w io.Writer, stdin io.Reader, subject string) error {
	subject = strings.TrimSpace(subject)
	switch {
	case subject == "":
		writeReasons(w, probe.Catalogue())
		return nil
	case subject == "-":
		return explainLines(w, stdin)
	}
	if reason := probe.Lookup(subject); reason != nil {
		writeReason(w, reason)
		return nil
	}
	matches := probe.MatchLog(subject)
	switch {
	case len(matches) > 0:
		writeMatches(w, matches)
		return nil
	case idShape.MatchString(subject):
		return unknownReason(subject)
	}
	return errUnknownLine
}

// idShape is what a reason's id looks like, also when it was typed in another
// style: anything else that nothing is known of is taken for a line of a log.
var idShape = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func unknownReason(id string) error {
	var ids []string
	for _, r := range probe.Catalogue() {
		ids = append(ids, r.ID)
	}
	near := probe.Nearest(strings.ReplaceAll(strings.ToLower(id), "-", "_"), ids)
	if len(near) == 0 {
		return fmt.Errorf("no reason is called %q: tlsprobe explain lists all of them", id)
	}
	return fmt.Errorf("no reason is called %q: did you mean %s?", id, strings.Join(near, ", "))
}
