package discover

import (
	"strconv"
	"strings"
	"time"
)

// listGrammar is a list of targets that brings along what they need: the modules
// and the CAs that several of them have, each once. A hub writes such lists.
type listGrammar struct {
	Interval time.Duration          `yaml:"interval"` // of targets that say none
	Timeout  time.Duration          `yaml:"timeout"`  // likewise
	Modules  map[string]moduleEntry `yaml:"modules"`  // see moduleName
	CAs      map[string]string      `yaml:"cas"`      // in PEM, by what targets call them
	Targets  []listEntry            `yaml:"targets"`

	// Own is what one node has beside that. It can use what is above.
	Own *listGrammar `yaml:"own"`
}

// moduleName is the name of a module by its key in a list: what follows the last #
// keeps modules of one name apart.
func moduleName(key string) string {
	if end := strings.LastIndexByte(key, '#'); end >= 0 {
		return key[:end]
	}
	return key
}

// listEntry is a target; or with names in place of the name, one for each of them.
// In the texts of such an entry {2} stands for the second part of the name, and so
// on: of "ingress/shop/web/shop.example" that is "shop".
type listEntry struct {
	Names     []string     `yaml:"names"`
	Target    targetEntry  `yaml:",inline"`
	CAID      string       `yaml:"ca_id"` // a key of cas
	Faults    []faultEntry `yaml:"faults"`
	Undialled bool         `yaml:"undialled"`
}

// faultEntry is a problem that is known without a connection.
type faultEntry struct {
	Reason   string   `yaml:"reason"`
	Warning  bool     `yaml:"warning"` // its severity, for those who do not know the reason
	Detail   string   `yaml:"detail"`
	Expected string   `yaml:"expected"`
	Received string   `yaml:"received"`
	Notes    []string `yaml:"notes"`
}

// texts returns a copy of e with each of its texts that may speak of the target's
// name replaced.
func (e *listEntry) texts(replace func(string) string) listEntry {
	out := *e
	out.Target.Address = replace(e.Target.Address)
	out.Target.ServerName = replace(e.Target.ServerName)
	if e.Target.Labels != nil {
		out.Target.Labels = make(map[string]string, len(e.Target.Labels))
		for name, value := range e.Target.Labels {
			out.Target.Labels[name] = replace(value)
		}
	}
	out.Target.Routes = nil
	for _, r := range e.Target.Routes {
		out.Target.Routes = append(out.Target.Routes, routeEntry{replace(r.Via), replace(r.Address)})
	}
	out.Faults = nil
	for _, f := range e.Faults {
		f.Detail, f.Expected, f.Received = replace(f.Detail), replace(f.Expected), replace(f.Received)
		notes := f.Notes
		f.Notes = nil
		for _, note := range notes {
			f.Notes = append(f.Notes, replace(note))
		}
		out.Faults = append(out.Faults, f)
	}
	return out
}

// named returns the target of this name that e stands for.
func (e *listEntry) named(name string) listEntry {
	var stands []string
	for i, part := range strings.Split(name, "/") {
		stands = append(stands, placeholder(i), part)
	}
	out := e.texts(strings.NewReplacer(stands...).Replace)
	out.Names, out.Target.Name = nil, name
	return out
}

// placeholder stands for the part of a name at the index.
func placeholder(index int) string { return "{" + strconv.Itoa(index+1) + "}" }
