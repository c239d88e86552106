package discover

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"

	"tlsprobe/probe"
)

// parseList reads a JSON list of targets from a URL: a bare one, whose entries are
// as in the configuration, or a [listGrammar]. An entry with an error is left out
// and told of, as is what is not understood; the error is about a body that is no
// list.
func (r targetRules) parseList(url string, body []byte) ([]*probe.Target, Errors, error) {
	root, err := parseJSON(body)
	if err != nil {
		return nil, nil, fmt.Errorf("the list at %s: %w", url, err)
	}
	d := newDecoder(url, "")
	var out []*probe.Target
	switch root.Kind {
	case yaml.SequenceNode:
		out = r.bareList(d, root)
	case yaml.MappingNode:
		if out, err = r.object(d, root); err != nil {
			return nil, nil, fmt.Errorf("the list at %s: %w", url, err)
		}
	default:
		return nil, nil, fmt.Errorf("the list at %s is %s; it must be a list of targets", url, kindOf(root))
	}
	return out, append(d.errs, d.warns...), nil
}

// bareList reads a list that holds nothing but targets.
func (r targetRules) bareList(d *decoder, root *yaml.Node) []*probe.Target {
	out := make([]*probe.Target, 0, len(root.Content))
	named := map[string]string{}
	for i, item := range root.Content {
		before := len(d.errs)
		var e targetEntry
		path := indexed("", i)
		d.value(item, reflect.ValueOf(&e).Elem(), path)
		t := r.target(d, &e, path, named)
		r.checkAddress(d, t, path)
		if len(d.errs) == before {
			out = append(out, t)
		}
	}
	return out
}

// maxNesting bounds the depth of a JSON value; a list of targets has half as much.
const maxNesting = 16

// parseJSON reads JSON into the tree that the same text would be in YAML, but
// without positions: such text is written by programs.
func parseJSON(data []byte) (*yaml.Node, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	root, err := jsonNode(decoder, 0)
	if err == io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("more follows after the JSON value")
	}
	return root, nil
}

func jsonNode(decoder *json.Decoder, depth int) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxNesting {
		return nil, fmt.Errorf("nested more than %d deep", maxNesting)
	}
	switch token := token.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		if token == '{' {
			n = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		}
		for decoder.More() {
			child, err := jsonNode(decoder, depth+1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err := decoder.Token()
		return n, err
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: token, Style: yaml.DoubleQuotedStyle}, nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: token.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(token)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}, nil
}
