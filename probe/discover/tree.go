package discover

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"sort"

	"go.yaml.in/yaml/v3"
)

// parseYAML reads the one document of a file into its tree. The error is about
// the syntax; what the tree means is not looked at.
func parseYAML(file string, data []byte) (*yaml.Node, *ConfigError) {
	document, second, err := documents(data)
	switch {
	case err != nil:
		return nil, syntaxError(file, data, err)
	case document == nil || isNull(document.Content[0]):
		return nil, &ConfigError{File: file, Msg: `is empty; write at least a target: targets: [{address: "example.com:443"}]`}
	case second != nil:
		return nil, &ConfigError{File: file, Line: second.Line, Column: second.Column,
			Msg: "a second document begins here; write all in one, without ---"}
	}
	root := document.Content[0]
	if err := checkAliases(file, root); err != nil {
		return nil, err
	}
	return root, nil
}

// documents returns the first two documents, nil where there is none.
func documents(data []byte) (first, second *yaml.Node, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for _, document := range []**yaml.Node{&first, &second} {
		var n yaml.Node
		if err := decoder.Decode(&n); err == io.EOF {
			break
		} else if err != nil {
			return nil, nil, err
		}
		*document = &n
	}
	return first, second, nil
}

// syntaxError turns an error of the YAML parser into ours.
func syntaxError(file string, data []byte, err error) *ConfigError {
	lines := bytes.SplitAfter(data, []byte("\n"))
	out := &ConfigError{File: file, Line: errorLine(lines, err), Msg: parserText(err)}
	text := lines[out.Line-1]
	indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
	if tab := bytes.IndexByte(indent, '\t'); tab >= 0 {
		out.Column, out.Msg = tab+1, "a tab indents this line; YAML takes spaces only"
	}
	return out
}

// errorLine returns the line that first makes the parser fail with err. The
// parser's own line is often that of the block or bracket around it, or missing.
func errorLine(lines [][]byte, err error) int {
	before := sort.Search(len(lines)-1, func(n int) bool {
		_, _, errHere := documents(bytes.Join(lines[:n+1], nil))
		return errHere != nil && parserText(errHere) == parserText(err)
	})
	return before + 1
}

var parserPrefix = regexp.MustCompile(`^yaml: (line \d+: )?`)

func parserText(err error) string { return parserPrefix.ReplaceAllString(err.Error(), "") }

const (
	// maxAliased is how many nodes aliases may add to a tree: a few nested
	// anchors can stand for billions.
	maxAliased = 100_000
	// maxAliasFactor allows a large file to repeat itself more, as targets that
	// merge their common keys do.
	maxAliasFactor = 10
)

// checkAliases refuses a tree that contains itself, or that aliases make many
// times larger than it was written.
func checkAliases(file string, root *yaml.Node) *ConfigError {
	c := aliasCheck{sizes: map[*yaml.Node]int{}}
	total := c.size(root)
	at := &ConfigError{File: file, Line: root.Line, Column: root.Column}
	if c.cycle != nil {
		at.Line, at.Column = c.cycle.Line, c.cycle.Column
		at.Msg = fmt.Sprintf("the alias %q stands within what it stands for", "*"+c.cycle.Value)
		return at
	}
	if added := total - c.written; added > maxAliased && added > maxAliasFactor*c.written {
		at.Msg = fmt.Sprintf("aliases blow the %d values that are written up to over %d; write more of them out",
			c.written, maxAliased)
		return at
	}
	return nil
}

// saturated is where counting nodes stops, far below an overflow.
const saturated = 1 << 50

type aliasCheck struct {
	sizes   map[*yaml.Node]int // of anchored nodes, with their aliases resolved; -1: being counted
	written int
	cycle   *yaml.Node // the alias that closes one
}

// size counts the nodes of n as they are once aliases are resolved.
func (c *aliasCheck) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		c.written++
		size, known := c.sizes[n.Alias]
		if known && size < 0 {
			c.cycle = n
			return 1
		}
		return size
	}
	c.written++
	if n.Anchor != "" {
		c.sizes[n] = -1
	}
	total := 1
	for _, child := range n.Content {
		total = min(total+c.size(child), saturated)
	}
	if n.Anchor != "" {
		c.sizes[n] = total
	}
	return total
}
