package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"tlsprobe/probe/lab"
)

const tcpModules = `
  tcp_connect: {prober: tcp}
  tls_connect: {prober: tcp, tcp: {tls: true, tls_config: {ca_file: CA}}}
  tls_untrusting: {prober: tcp, tcp: {tls: true}}
  tls_skips: {prober: tcp, tcp: {tls: true, tls_config: {insecure_skip_verify: true}}}
  tls_client: {prober: tcp, tcp: {tls: true, tls_config: {ca_file: CA, cert_file: CERT, key_file: KEY}}}
  tls_misnamed: {prober: tcp, tcp: {tls: true, tls_config: {ca_file: CA, server_name: other.test}}}
  tls_tls12: {prober: tcp, tcp: {tls: true, tls_config: {ca_file: CA, max_version: TLS12}}}
  lab_tls: {prober: tcp, tcp: {tls: true, tls_config: {ca_file: CA, server_name: good.lab.test}}}
  tcp_ip6: {prober: tcp, tcp: {preferred_ip_protocol: ip6, ip_protocol_fallback: false}}
  from_loopback: {prober: tcp, tcp: {source_ip_address: 127.0.0.2, query_response: [{expect: "^127.0.0.2 "}]}}
  ssh_banner: {prober: tcp, tcp: {query_response: [{expect: "^SSH-2.0-"}, {send: SSH-2.0-blackbox-ssh-check}]}}
  ssh_banner_extract:
    prober: tcp
    tcp:
      query_response:
        - expect: "^SSH-2.0-([^ -]+)(?: (.*))?$"
          labels: [{name: ssh_version, value: "${1}"}, {name: ssh_comments, value: "${2}"}]
  mail_banner: {prober: tcp, timeout: 600ms, tcp: {query_response: [{expect: "^220 "}]}}
  bytes: {prober: tcp, tcp: {query_response: [{expect_bytes: SSH-2.0}]}}
  other_bytes: {prober: tcp, tcp: {query_response: [{expect_bytes: HTTP/1.}]}}
  chat: {prober: tcp, tcp: {query_response: [{expect: "^SSH-2.0-(.*)$", send: "hello ${1}"}, {expect: "^hello OpenSSH_9.2 Debian"}]}}
  smtp_starttls:
    prober: tcp
    tcp:
      query_response:
        - expect: "^220 ([^ ]+) ESMTP (.+)$"
        - send: "EHLO prober\r"
        - expect: "^250-STARTTLS"
        - send: "STARTTLS\r"
        - expect: "^220"
        - starttls: true
        - send: "EHLO prober\r"
        - expect: "^250-AUTH"
        - send: "QUIT\r"
      tls_config: {ca_file: CA}
  smtp_starttls_untrusting:
    prober: tcp
    tcp:
      query_response: [{expect: "^220 "}, {send: "EHLO prober\r"}, {expect: "^250-STARTTLS"}, {send: "STARTTLS\r"}, {expect: "^220"}, {starttls: true}]
`

// tcpPeers are servers that say something first.
type tcpPeers struct{ ssh, echo, mail, silent string }

func startTCPPeers(t *testing.T, l *lab.Lab) tcpPeers {
	t.Helper()
	cert, err := l.CA.Issue()
	if err != nil {
		t.Fatal(err)
	}
	return tcpPeers{
		ssh: serveConns(t, func(c net.Conn) {
			fmt.Fprint(c, "SSH-2.0-OpenSSH_9.2 Debian\r\n")
			for lines := bufio.NewScanner(c); lines.Scan(); {
				fmt.Fprintf(c, "%s\n", lines.Text())
			}
		}),
		echo:   serveConns(t, func(c net.Conn) { fmt.Fprintf(c, "%s says hello\r\n", c.RemoteAddr().(*net.TCPAddr).IP) }),
		mail:   serveConns(t, func(c net.Conn) { serveMail(c, cert) }),
		silent: serveConns(t, func(c net.Conn) { c.Read(make([]byte, 1)) }),
	}
}

// serveMail speaks as much SMTP as leads to TLS and behind it.
func serveMail(c net.Conn, cert tls.Certificate) {
	fmt.Fprint(c, "220 mail.lab.test ESMTP Lab\r\n")
	lines := bufio.NewScanner(c)
	for secure := false; lines.Scan(); {
		switch verb, _, _ := strings.Cut(strings.TrimSpace(lines.Text()), " "); verb {
		case "EHLO":
			offer := map[bool]string{false: "STARTTLS", true: "AUTH PLAIN"}[secure]
			fmt.Fprintf(c, "250-mail.lab.test\r\n250-%s\r\n250 8BITMIME\r\n", offer)
		case "STARTTLS":
			fmt.Fprint(c, "220 go ahead\r\n")
			c = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}})
			lines, secure = bufio.NewScanner(c), true
		case "QUIT":
			fmt.Fprint(c, "221 bye\r\n")
			return
		}
	}
}

// serveConns hands each connection to a goroutine, which the test waits for.
func serveConns(t *testing.T, handle func(net.Conn)) (address string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer c.Close()
				handle(c)
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		running.Wait()
	})
	return ln.Addr().String()
}

func (p *dropInPeers) tcpCases() []scrapeCase {
	secure, mutual := strings.TrimPrefix(p.secure.URL, "https://"), strings.TrimPrefix(p.mutual, "https://")
	talk := func(name, module, target string) scrapeCase {
		return scrapeCase{name: "tcp: " + name, module: module, target: target}
	}
	return []scrapeCase{
		talk("connect", "tcp_connect", p.tcp.ssh),
		talk("connect to localhost", "tcp_connect", strings.Replace(p.tcp.ssh, "127.0.0.1", "localhost", 1)),
		talk("IPv4, IPv6 only", "tcp_ip6", p.tcp.ssh),
		talk("refused", "tcp_connect", p.closed),
		talk("no port", "tcp_connect", "127.0.0.1"),
		talk("a name with a mistake", "tcp_connect", "a..b:1"),
		talk("from an address", "from_loopback", p.tcp.echo),
		talk("TLS", "tls_connect", secure),
		talk("TLS 1.2", "tls_tls12", secure),
		talk("untrusted", "tls_untrusting", secure),
		talk("not verified", "tls_skips", secure),
		talk("not verified, nor trusted", "tls_skips", p.mutual[len("https://"):]),
		talk("misnamed", "tls_misnamed", secure),
		{name: "tcp: hostname", module: "tls_connect", target: secure, query: "&hostname=good.lab.test"},
		{name: "tcp: hostname that is not certified", module: "tls_connect", target: secure, query: "&hostname=shop.test"},
		{name: "tcp: hostname, and a name of its own", module: "lab_tls", target: secure, query: "&hostname=shop.test"},
		talk("client certificate", "tls_client", mutual),
		talk("no client certificate", "tls_connect", mutual),
		talk("no client certificate, TLS 1.2", "tls_tls12", mutual),
		talk("TLS refused", "tls_connect", p.closed),
		talk("TLS to a plain port", "tls_connect", p.tcp.ssh),
		talk("banner", "ssh_banner", p.tcp.ssh),
		talk("banner with labels", "ssh_banner_extract", p.tcp.ssh),
		talk("another banner, and waits", "mail_banner", p.tcp.ssh),
		talk("another banner, and closes", "mail_banner", p.tcp.echo),
		talk("no banner", "mail_banner", p.tcp.silent),
		talk("bytes", "bytes", p.tcp.ssh),
		talk("other bytes", "other_bytes", p.tcp.ssh),
		talk("a conversation", "chat", p.tcp.ssh),
		talk("STARTTLS", "smtp_starttls", p.tcp.mail),
		talk("STARTTLS, untrusted", "smtp_starttls_untrusting", p.tcp.mail),
		talk("STARTTLS is not spoken", "smtp_starttls", p.tcp.echo),
	}
}
