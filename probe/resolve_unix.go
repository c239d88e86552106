//go:build unix && !darwin && !ios && !android

package probe

// machineResolvConf is the file that says whom to ask on this system.
const machineResolvConf = "/etc/resolv.conf"
