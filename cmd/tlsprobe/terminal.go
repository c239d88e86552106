package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// colored reports whether text on w may be coloured: on a terminal, unless
// NO_COLOR is set (no-color.org).
func colored(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(f.Fd()))
}
