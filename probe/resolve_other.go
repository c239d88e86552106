//go:build !unix || darwin || ios || android

package probe

// machineResolvConf is empty: Windows and Android have no resolv.conf, and the
// one on macOS leaves out what VPNs and per-domain resolvers add. The operating
// system is asked instead.
const machineResolvConf = ""
