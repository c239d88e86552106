package discover

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strings"
)

// CheckFiles tells which of the files that the configuration names cannot be
// used as they are now. They are no errors of [Parse]: a certificate may be
// issued after the agent starts, and until then the result of its targets says
// so.
func (c *Config) CheckFiles() Errors {
	var errs Errors
	names := map[string]string{} // by key
	for _, f := range c.files {
		names[f.at.Key] = f.name
	}
	for _, f := range c.files {
		if err := checkFile(f.at.Key, f.name, names); err != nil {
			wrong := f.at
			wrong.Msg = err.Error()
			errs = append(errs, &wrong)
		}
	}
	errs.sort()
	return errs
}

// checkFile tries the file that the key names; names holds the others, of which
// a certificate needs its key.
func checkFile(key, name string, names map[string]string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	section, setting := key[:strings.LastIndex(key, ".")+1], key[strings.LastIndex(key, ".")+1:]
	switch setting {
	case "ca_file":
		if !x509.NewCertPool().AppendCertsFromPEM(data) {
			return errors.New(name + " holds no certificate in PEM")
		}
	case "cert_file":
		keyFile := names[section+"key_file"]
		if _, err := os.Stat(keyFile); err != nil {
			return nil // told of key_file itself
		}
		_, err := tls.LoadX509KeyPair(name, keyFile)
		return err
	}
	return nil
}
