package probe

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
)

// CEL is an expression of the Common Expression Language about a JSON value,
// which is called body: body.status == "ok". Empty: none.
type CEL string

// UnmarshalText accepts an expression that compiles.
func (c *CEL) UnmarshalText(text []byte) error {
	*c = CEL(text)
	_, err := c.compile()
	return err
}

func (c CEL) compile() (cel.Program, error) {
	env, err := cel.NewEnv(cel.Variable("body", cel.DynType))
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	ast, issues := env.Compile(string(c))
	if issues.Err() != nil {
		return nil, fmt.Errorf("%q is no CEL expression: %w", string(c), issues.Err())
	}
	// Like a body, an expression must not take more than its share.
	program, err := env.Program(ast, cel.CostLimit(maxCELCost))
	if err != nil {
		return nil, fmt.Errorf("preparing %q: %w", string(c), err)
	}
	return program, nil
}

// maxCELCost bounds an evaluation, in steps.
const maxCELCost = 1_000_000

// programs keeps compiled expressions: settings are plain data, and to compile
// one takes longer than a probe.
type programs struct {
	mu       sync.Mutex
	compiled map[CEL]cel.Program
}

func newPrograms() *programs { return &programs{compiled: map[CEL]cel.Program{}} }

func (p *programs) get(c CEL) (cel.Program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if program := p.compiled[c]; program != nil {
		return program, nil
	}
	program, err := c.compile()
	if err == nil {
		p.compiled[c] = program
	}
	return program, err
}

// eval reports whether c is true of value.
func (p *programs) eval(c CEL, value any) (bool, error) {
	program, err := p.get(c)
	if err != nil {
		return false, err
	}
	out, _, err := program.Eval(map[string]any{"body": value})
	if err != nil {
		return false, fmt.Errorf("evaluating %q: %w", string(c), err)
	}
	is, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("evaluating %q: it gives %v, which is neither true nor false", string(c), out)
	}
	return is, nil
}

func parseJSON(body []byte) (any, error) {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return nil, fmt.Errorf("reading the body as JSON: %w", err)
	}
	return value, nil
}
