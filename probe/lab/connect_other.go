//go:build !linux

package lab

// linuxScenarios rest on what the Linux kernel does.
func linuxScenarios() []Scenario { return nil }
