//go:build linux

package probe_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// How each server of starttls_servers_test.go is run.

// startExim connects it by Unix sockets: from an unprivileged user it takes no TCP
// connection.
func startExim(t *testing.T, dir string, mode tlsMode) (string, logged) {
	t.Helper()
	conf := filepath.Join(dir, "exim.conf")
	text := fmt.Sprintf("log_file_path = %[1]s/log-%%s\nspool_directory = %[1]s/spool\nprimary_hostname = mail.example\n", dir)
	if mode != withoutTLS {
		text += fmt.Sprintf("tls_advertise_hosts = *\ntls_certificate = %[1]s/server.crt\ntls_privatekey = %[1]s/server.key\n", dir)
	} else {
		text += "tls_advertise_hosts =\n"
	}
	if mode == withClientCerts {
		text += fmt.Sprintf("tls_verify_hosts = *\ntls_verify_certificates = %s/ca.crt\n", dir)
	}
	writeFile(t, conf, text+"keep_environment =\n")
	exim := lookPath(t, "exim4")
	addr := serveByProcess(t, throughUnixSocket, func(ctx context.Context) *exec.Cmd {
		return unprivileged(t, dir, exec.CommandContext(ctx, exim, "-C", conf, "-bs"))
	})
	return addr, inFile(filepath.Join(dir, "log-main"))
}

func startVsftpd(t *testing.T, dir string, mode tlsMode) (string, logged) {
	t.Helper()
	conf := filepath.Join(dir, "vsftpd.conf")
	text := "listen=NO\nrun_as_launching_user=YES\nanonymous_enable=YES\nseccomp_sandbox=NO\nlog_ftp_protocol=NO\n" +
		"xferlog_enable=YES\nvsftpd_log_file=" + filepath.Join(dir, "log") + "\n"
	if mode != withoutTLS {
		text += fmt.Sprintf("ssl_enable=YES\nssl_ciphers=HIGH\nrsa_cert_file=%[1]s/server.crt\nrsa_private_key_file=%[1]s/server.key\n", dir)
	}
	if mode == withClientCerts {
		text += fmt.Sprintf("require_cert=YES\nvalidate_cert=YES\nca_certs_file=%s/ca.crt\n", dir)
	}
	writeFile(t, conf, text)
	vsftpd := lookPath(t, "vsftpd")
	addr := serveByProcess(t, (*net.TCPConn).File, func(ctx context.Context) *exec.Cmd {
		return unprivileged(t, dir, exec.CommandContext(ctx, vsftpd, conf))
	})
	return addr, inFile(filepath.Join(dir, "log"))
}

// startDovecot serves IMAP and POP3; the address is of the one that the test is
// about.
func startDovecot(t *testing.T, dir string, mode tlsMode) (string, logged) {
	t.Helper()
	user, group := "nobody", "nogroup"
	if os.Getuid() != 0 {
		user, group = os.Getenv("USER"), os.Getenv("USER")
	}
	protocol := "imap"
	if strings.Contains(t.Name(), "pop3") {
		protocol = "pop3"
	}
	port := freePort(t)
	ssl := "ssl = no"
	if mode != withoutTLS {
		ssl = fmt.Sprintf("ssl = yes\nssl_cert = <%[1]s/server.crt\nssl_key = <%[1]s/server.key", dir)
	}
	conf := filepath.Join(dir, "dovecot.conf")
	writeFile(t, conf, fmt.Sprintf(`base_dir = %[1]s/run
state_dir = %[1]s/state
log_path = /dev/stderr
protocols = %[2]s
listen = 127.0.0.1
default_internal_user = %[3]s
default_internal_group = %[4]s
default_login_user = %[3]s
mail_location = maildir:%[1]s/mail
passdb {
  driver = static
  args = nopassword=y
}
userdb {
  driver = static
  args = uid=%[3]s gid=%[4]s home=%[1]s
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
service %[2]s-login {
  chroot =
  inet_listener %[2]s {
    port = %[5]d
  }
  inet_listener %[2]ss {
    port = 0
  }
}
%[6]s
`, dir, protocol, user, group, port, ssl))
	cmd := unprivileged(t, dir, exec.Command(lookPath(t, "dovecot"), "-F", "-c", conf))
	return loopback(port), startUntil(t, cmd, `starting up for`)
}

func startSlapd(t *testing.T, dir string, mode tlsMode) (string, logged) {
	t.Helper()
	conf, port := filepath.Join(dir, "slapd.conf"), freePort(t)
	text := "include /etc/ldap/schema/core.schema\n"
	if mode != withoutTLS {
		text += fmt.Sprintf("TLSCertificateFile %[1]s/server.crt\nTLSCertificateKeyFile %[1]s/server.key\n", dir)
	}
	if mode == withClientCerts {
		text += fmt.Sprintf("TLSVerifyClient demand\nTLSCACertificateFile %s/ca.crt\n", dir)
	}
	writeFile(t, conf, text)
	cmd := unprivileged(t, dir, exec.Command(lookPath(t, "slapd"), "-h", "ldap://"+loopback(port), "-f", conf, "-d", "stats"))
	log := startUntil(t, cmd, `slapd starting`)
	waitForListener(t, loopback(port))
	return loopback(port), log
}

func startPostgres(t *testing.T, dir string, mode tlsMode) (string, logged) {
	t.Helper()
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(programs) == 0 {
		t.Fatal("no PostgreSQL: install Debian's package postgresql; the test command does")
	}
	data, port := filepath.Join(dir, "data"), freePort(t)
	initdb := unprivileged(t, dir, exec.Command(programs[0], "-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "--no-instructions"))
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v: %s", err, out)
	}
	args := []string{"-D", data, "-p", fmt.Sprint(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off"}
	if mode != withoutTLS {
		args = append(args, "-c", "ssl=on", "-c", "ssl_cert_file="+dir+"/server.crt", "-c", "ssl_key_file="+dir+"/server.key")
	}
	cmd := unprivileged(t, dir, exec.Command(filepath.Join(filepath.Dir(programs[0]), "postgres"), args...))
	return loopback(port), startUntil(t, cmd, `ready to accept connections`)
}

// startMariaDB makes the tables of users, as without them a server has no logins
// that one could leave.
func startMariaDB(t *testing.T, dir string, mode tlsMode) (string, logged) {
	t.Helper()
	data, port := filepath.Join(dir, "data"), freePort(t)
	if err := os.MkdirAll(filepath.Join(data, "mysql"), 0o755); err != nil {
		t.Fatal(err)
	}
	mariadbd := lookPath(t, "mariadbd")
	args := []string{"--no-defaults", "--datadir=" + data, "--innodb=OFF", "--default-storage-engine=Aria"}
	tables := "use mysql;\n"
	for _, name := range []string{"mysql_system_tables.sql", "mysql_system_tables_data.sql"} {
		sql, err := os.ReadFile("/usr/share/mysql/" + name)
		if err != nil {
			t.Fatal(err)
		}
		tables += string(sql)
	}
	bootstrap := unprivileged(t, dir, exec.Command(mariadbd, append(args, "--bootstrap")...))
	bootstrap.Stdin = strings.NewReader(tables)
	if out, err := bootstrap.CombinedOutput(); err != nil {
		t.Fatalf("mariadbd --bootstrap: %v: %s", err, out)
	}
	args = append(args, "--bind-address=127.0.0.1", fmt.Sprint("--port=", port), "--socket="+filepath.Join(dir, "socket"))
	if mode != withoutTLS {
		args = append(args, "--ssl-cert="+dir+"/server.crt", "--ssl-key="+dir+"/server.key")
	}
	return loopback(port), startUntil(t, unprivileged(t, dir, exec.Command(mariadbd, args...)), `^Version: `)
}

func startProsody(t *testing.T, dir string, mode tlsMode) (string, logged) {
	t.Helper()
	conf, port := filepath.Join(dir, "prosody.cfg.lua"), freePort(t)
	modules := `"saslauth"`
	if mode != withoutTLS {
		modules += `, "tls"`
	}
	writeFile(t, conf, fmt.Sprintf(`data_path = %[1]q
log = { info = "*console" }
certificates = %[1]q
interfaces = { "127.0.0.1" }
c2s_ports = { %[2]d }
modules_enabled = { %[3]s }
modules_disabled = { "s2s" }
c2s_require_encryption = %[6]t
allow_unencrypted_plain_auth = true
ssl = { certificate = "%[4]s/server.crt", key = "%[4]s/server.key" }
VirtualHost %[5]q
`, dir, port, modules, dir, quietName, mode != withoutTLS))
	cmd := unprivileged(t, dir, exec.Command(lookPath(t, "prosody"), "--config", conf, "-F"))
	return loopback(port), startUntil(t, cmd, `Activated service 'legacy_ssl'`)
}
