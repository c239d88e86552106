package probe_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"tlsprobe/probe"
)

// TestReadAnswer has the answers that need another server than the lab's.
func TestReadAnswer(t *testing.T) {
	for _, test := range []struct {
		name              string
		rcode             int
		answer, authority []string
		want              string // the error
	}{
		{"authority without recursion", dns.RcodeSuccess, nil, []string{"test. 5 IN SOA ns.test. root.test. 1 2 3 4 5"},
			"a.test. exists, but has no address"},
		{"referral", dns.RcodeSuccess, nil, []string{"test. 5 IN NS ns.test."},
			"lame referral: the server neither asks others nor has authority over a.test."},
		{"the address of another name", dns.RcodeSuccess, []string{"b.test. 5 IN A 127.0.0.1"}, nil,
			"a.test. exists, but has no address"},
		{"unknown code", 3841, nil, nil, "response code 3841 to A a.test."},
	} {
		t.Run(test.name, func(t *testing.T) {
			query := new(dns.Msg).SetQuestion("a.test.", dns.TypeA)
			reply := new(dns.Msg).SetRcode(query, test.rcode)
			reply.Answer, reply.Ns = parseRecords(t, test.answer), parseRecords(t, test.authority)
			got, failure := probe.ReadAnswer(reply, query)
			if failure == nil {
				t.Fatalf("got %v, want an error", got)
			}
			if diff := cmp.Diff(test.want, failure.Err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func parseRecords(t testing.TB, records []string) []dns.RR {
	t.Helper()
	var out []dns.RR
	for _, record := range records {
		rr, err := dns.NewRR(record)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rr)
	}
	return out
}

// FuzzReadAnswer reads what a hostile server may send: it gives an address or an
// error that says something, and ends.
func FuzzReadAnswer(f *testing.F) {
	query := new(dns.Msg).SetQuestion("a.test.", dns.TypeA)
	for _, records := range [][]string{
		{},
		{"a.test. 5 IN A 127.0.0.1"},
		{"a.test. 5 IN CNAME A.test."},
		{"a.test. 5 IN CNAME b.test.", "b.test. 5 IN CNAME c.test.", "C.test. 5 IN AAAA ::1"},
		{"a.test. 5 IN CNAME b.test.", "b.test. 5 IN CNAME c.test.", "c.test. 5 IN CNAME b.test."},
	} {
		reply := new(dns.Msg).SetReply(query)
		reply.Answer = parseRecords(f, records)
		packed, err := reply.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		var msg dns.Msg
		if msg.Unpack(packed) != nil {
			t.Skip()
		}
		got, failure := probe.ReadAnswer(&msg, query)
		if (failure == nil) != (len(got) > 0) || failure != nil && failure.Error() == "" {
			t.Errorf("addresses %v, failure %v", got, failure)
		}
	})
}
