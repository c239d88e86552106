package main

import (
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "tlsprobe/"

// mayImport says, for each package of ours, which others of ours it may import;
// its tests may import probe/lab as well. A package that is not listed is a new
// room: state its place here.
//
//	cmd --> exporter --> probe <-- probe/schedule
//	 +----> probe/discover --> probe          probe/lab: from tests and cmd only
//	 +----> probe/discover/kubernetes <-- probe/discover
var mayImport = map[string][]string{
	"probe":                     {},
	"probe/schedule":            {"probe"},
	"probe/discover":            {"probe", "probe/discover/kubernetes"},
	"probe/discover/kubernetes": {"probe"},
	"probe/lab":                 {"probe"},
	"exporter":                  {"probe"},
	"cmd/tlsprobe":              {"probe", "probe/schedule", "probe/discover", "probe/discover/kubernetes", "probe/lab", "exporter"},
}

// onlyIn says where a library may be imported: in the named packages, or in the
// files of a package that a pattern matches. Libraries not listed may be imported
// anywhere.
var onlyIn = map[string][]string{
	"github.com/prometheus/client_golang":    {"exporter", "cmd/tlsprobe"},
	"github.com/prometheus/client_model":     {"exporter"},
	"github.com/prometheus/common":           {"exporter", "cmd/tlsprobe", "probe/http*.go", "probe/lab"},
	"github.com/prometheus/exporter-toolkit": {"cmd/tlsprobe"},
	"github.com/alecthomas/kingpin":          {"cmd/tlsprobe"},
	"golang.org/x/term":                      {"cmd/tlsprobe"},
	"github.com/miekg/dns":                   {"probe/dns*.go", "probe/resolv*.go", "probe/lookup*.go", "probe/discover", "probe/lab"},
	"github.com/quic-go/quic-go":             {"probe/quic.go", "probe/evidence.go", "probe/lab"},
	"google.golang.org/grpc":                 {"probe/grpc*.go", "exporter"},
	"google.golang.org/protobuf":             {"probe/grpc*.go", "probe/otlp*.go", "exporter"},
	"k8s.io/client-go":                       {"probe/discover/kubernetes"},
	"k8s.io/client-go/kubernetes":            {}, // the typed clientset: 13 MB more binary
	"net/http/pprof":                         {}, // opens profiles to anyone on the default mux
	"gopkg.in/yaml.v3":                       {}, // archived: go.yaml.in/yaml/v3
}

// TestImports states who may know whom, and fails on a new arrow.
func TestImports(t *testing.T) {
	for pkg, files := range sourceFiles(t) {
		allowed, known := mayImport[pkg]
		if !known {
			t.Errorf("package %s has no place in mayImport", pkg)
			continue
		}
		for _, file := range files {
			isTest := strings.HasSuffix(file, "_test.go")
			name := pkg + "/" + filepath.Base(file)
			for _, path := range importsOf(t, file) {
				if ours, ok := strings.CutPrefix(path, module); ok {
					if !slices.Contains(allowed, ours) && !(isTest && (ours == pkg || ours == "probe/lab")) {
						t.Errorf("%s imports %s: %s may import %v only", name, ours, pkg, allowed)
					}
				} else if !isTest {
					checkLibrary(t, name, pkg, path)
				}
			}
		}
	}
}

func checkLibrary(t *testing.T, file, pkg, path string) {
	t.Helper()
	for library, places := range onlyIn {
		if path != library && !strings.HasPrefix(path, library+"/") {
			continue
		}
		allowed := slices.ContainsFunc(places, func(place string) bool {
			matches, _ := filepath.Match(place, file)
			return matches || place == pkg
		})
		if !allowed {
			t.Errorf("%s imports %s: allowed in %v only", file, path, places)
		}
	}
}

// TestImportRulesHold guards the rules themselves: they speak of packages that
// exist.
func TestImportRulesHold(t *testing.T) {
	files := sourceFiles(t)
	for pkg := range mayImport {
		if files[pkg] == nil {
			t.Errorf("mayImport lists %s, which is no package", pkg)
		}
	}
}

// sourceFiles returns the Go files of each package, for every operating system.
func sourceFiles(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Dir}}", module+"...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	files := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		in, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(path, module)] = in
	}
	return files
}

func importsOf(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}
