//go:build !linux

package lab

// linuxScenarios rest on what the Linux kernel does.
func linuxScenarios() []Scenario { return nil }

// linuxACMEScenarios are the part of the ACME incident that rests on the kernel.
func linuxACMEScenarios() []Scenario { return nil }
