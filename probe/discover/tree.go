package discover

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseYAML reads the one document of a file into its tree. The error is about
// the syntax; what the tree means is not looked at.
func parseYAML(file string, data []byte) (*yaml.Node, *ConfigError) {
	var document, second yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	err := decoder.Decode(&document)
	if err == io.EOF {
		return nil, &ConfigError{File: file, Msg: "is empty; write at least a target: targets: [{address: \"example.com:443\"}]"}
	}
	if err != nil {
		return nil, syntaxError(file, data, err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, &ConfigError{File: file, Line: second.Line, Column: second.Column,
			Msg: "a second document begins here; write all in one, without ---"}
	case err != io.EOF:
		return nil, syntaxError(file, data, err)
	}
	root := document.Content[0]
	if err := checkAliases(file, root); err != nil {
		return nil, err
	}
	return root, nil
}

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

// syntaxError turns an error of the YAML parser, which knows no column, into ours.
func syntaxError(file string, data []byte, err error) *ConfigError {
	out := &ConfigError{File: file, Msg: err.Error()}
	if m := yamlError.FindStringSubmatch(err.Error()); m != nil {
		out.Line, _ = strconv.Atoi(m[1])
		out.Msg = m[2]
	}
	if line, column := tabIndent(data); line > 0 {
		out.Line, out.Column = line, column
		out.Msg = "a tab indents this line; YAML takes spaces only"
	}
	return out
}

// tabIndent finds the first line that is indented with a tab, 0 if there is none.
func tabIndent(data []byte) (line, column int) {
	for i, text := range strings.Split(string(data), "\n") {
		indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
		if tab := strings.IndexByte(indent, '\t'); tab >= 0 && strings.TrimSpace(text) != "" {
			return i + 1, tab + 1
		}
	}
	return 0, 0
}

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
