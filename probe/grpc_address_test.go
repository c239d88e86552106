package probe

import "testing"

func TestGRPCAddresses(t *testing.T) {
	for _, tt := range []struct {
		address string
		overTLS bool
		host    string // "": an error
		port    uint16
	}{
		{"a.example:50051", false, "a.example", 50051},
		{"a.example", false, "a.example", 80},
		{"a.example", true, "a.example", 443},
		{"http://a.example", true, "a.example", 443},
		{"https://a.example", false, "a.example", 80},
		{"https://a.example:1", false, "a.example", 1},
		{"http://a.example:50051/", false, "a.example", 50051},
		{"[2001:db8::1]:50051", true, "2001:db8::1", 50051},
		{"[2001:db8::1]", true, "2001:db8::1", 443},
		{"192.0.2.1", false, "192.0.2.1", 80},
		{"", false, "", 0},
		{":50051", false, "", 0},
		{"a.example:", false, "", 0},
		{"a.example:0", false, "", 0},
		{"a.example:65536", false, "", 0},
		{"dns://a.example:1", false, "", 0},
		{"a example:1", false, "", 0},
	} {
		host, port, err := splitGRPCAddress(tt.address, tt.overTLS)
		if tt.host == "" {
			if err == nil {
				t.Errorf("%q is taken as %s, port %d", tt.address, host, port)
			}
			continue
		}
		if err != nil || host != tt.host || port != tt.port {
			t.Errorf("%q, TLS %v: %s, port %d, %v; want %s, port %d", tt.address, tt.overTLS, host, port, err, tt.host, tt.port)
		}
	}
}

func TestOTLPAddresses(t *testing.T) {
	for _, tt := range []struct {
		address, protocol, expect string
		want                      receiver // no host: an error
	}{
		{"c.example:4317", "", "", receiver{"c.example", 4317, "grpc", "", "/v1/traces"}},
		{"c.example:4318", "", "", receiver{"c.example", 4318, "http", "", "/v1/traces"}},
		{"c.example", "", "tls", receiver{"c.example", 4317, "grpc", "tls", "/v1/traces"}},
		{"c.example", "http", "", receiver{"c.example", 4318, "http", "", "/v1/traces"}},
		{"c.example:4318", "grpc", "", receiver{"c.example", 4318, "grpc", "", "/v1/traces"}},
		{"c.example:80", "", "", receiver{"c.example", 80, "grpc", "", "/v1/traces"}},
		{"http://c.example", "", "", receiver{"c.example", 80, "grpc", "plaintext", "/v1/traces"}},
		{"https://c.example:4318/", "", "", receiver{"c.example", 4318, "http", "tls", "/v1/traces"}},
		{"https://c.example", "", "mtls", receiver{"c.example", 443, "grpc", "mtls", "/v1/traces"}},
		{"https://c.example/otlp/", "", "", receiver{"c.example", 443, "http", "tls", "/otlp/v1/traces"}},
		{"https://c.example:8443/otlp/v1/traces", "", "", receiver{"c.example", 8443, "http", "tls", "/otlp/v1/traces"}},
		{"[2001:db8::1]:4317", "", "", receiver{"2001:db8::1", 4317, "grpc", "", "/v1/traces"}},
		{"", "", "", receiver{}},
		{"grpc://c.example", "", "", receiver{}},
		{"c.example:", "", "", receiver{}},
		{"c.example:99999", "", "", receiver{}},
		{":4317", "", "", receiver{}},
	} {
		p := &OTLPProber{Signal: "traces", Protocol: tt.protocol, Expect: tt.expect}
		got, err := p.receiver(tt.address)
		switch {
		case tt.want.host == "" && err == nil:
			t.Errorf("%q is taken as %+v", tt.address, got)
		case tt.want.host != "" && (err != nil || got != tt.want):
			t.Errorf("%q, protocol %q, expect %q: %+v, %v; want %+v", tt.address, tt.protocol, tt.expect, got, err, tt.want)
		}
	}
}
