package exporter_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

func TestWriteJSON(t *testing.T) {
	now := start.Add(12 * time.Second)
	hostile := resultRedirects()
	hostile.Attempts[0].TLS.Chain[0].Subject = "CN=\x1b[31m\xff"
	hostile.Attempts[0].TLS.Stapled = &probe.OCSP{Status: "good", ThisUpdate: start}
	hostile.Attempts[0].TLS.ClientCert = certificates()[0]
	for _, test := range []struct {
		file string
		view exporter.View
	}{
		{"ok.json", exporter.View{Result: resultOK(), Live: true, Version: "0.1.0"}},
		{"failing.json", scheduled(t, now, resultOK(), resultWrongName())},
		{"hostile.json", exporter.View{Result: hostile}},
		{"http3.json", exporter.View{Result: resultHTTP3()}},
		{"routes.json", exporter.View{Result: resultRoutes()}},
		{"undialled.json", exporter.View{Result: resultUndialled()}},
		{"dns.json", exporter.View{Result: resultDNS()}},
		{"tcp.json", exporter.View{Result: resultMail()}},
		{"grpc.json", exporter.View{Result: resultGRPC(), Live: true}},
		{"otlp.json", exporter.View{Result: resultOTLP(), Live: true}},
		{"pending.json", exporter.View{Target: kong}},
	} {
		t.Run(test.file, func(t *testing.T) {
			var b strings.Builder
			if err := exporter.WriteJSON(&b, test.view); err != nil {
				t.Fatal(err)
			}
			golden(t, test.file, b.String())
		})
	}
}

// TestSchemaDocumented holds SCHEMA.md against every key that the samples have.
func TestSchemaDocumented(t *testing.T) {
	doc, err := os.ReadFile("SCHEMA.md")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, file := range []string{"ok.json", "failing.json", "hostile.json", "routes.json", "undialled.json", "dns.json", "tcp.json", "grpc.json", "otlp.json", "pending.json"} {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		collectKeys(v, used)
	}
	h := exporter.New(exporter.Config{Store: populated(), Runner: probe.NewRunner(""), Sources: func() []exporter.Source {
		return []exporter.Source{{Name: "a", Updated: time.Now(), Err: errors.New("b")}}
	}})
	for _, path := range []string{"/targets", "/results"} {
		var v any
		if err := json.NewDecoder(get(t, h, path).Body).Decode(&v); err != nil {
			t.Fatal(err)
		}
		collectKeys(v, used)
	}
	for _, key := range slices.Sorted(maps.Keys(used)) {
		if !strings.Contains(string(doc), "`"+key+"`") {
			t.Errorf("SCHEMA.md does not tell what %q is", key)
		}
	}
}

// collectKeys adds the keys of all objects in v, but for those of maps whose
// keys are data: labels and phases.
func collectKeys(v any, used map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			used[key] = true
			if key != "labels" && key != "phases" {
				collectKeys(below, used)
			}
		}
	case []any:
		for _, below := range v {
			collectKeys(below, used)
		}
	}
}
