package main

// usageTemplate is what --help prints. Beside kingpin's default it has one line
// per command on the first page, and a command's long help with its examples.
const usageTemplate = `{{define "command" -}}
{{if .FlagSummary}} {{.FlagSummary}}{{end -}}
{{range .Args}} {{if not .Required}}[{{end}}<{{.Name}}>{{if .Value|IsCumulative}}...{{end}}{{if not .Required}}]{{end}}{{end}}
{{end -}}

{{if .Context.SelectedCommand -}}
usage: {{.App.Name}} {{.Context.SelectedCommand}}{{template "command" .Context.SelectedCommand}}
{{.Context.SelectedCommand.Help}}

{{.Context.SelectedCommand.HelpLong}}
{{else -}}
usage: {{.App.Name}} <command> [<flags>] [<args>...]

{{.App.Help}}

Commands:
{{range .App.FlattenedCommands}}{{printf "  %-14s%s\n" .Name .Help}}{{end}}
{{end -}}
{{if .Context.Flags -}}
Flags:
{{.Context.Flags|FlagsToTwoColumns|FormatTwoColumns}}
{{end -}}
{{if .Context.Args -}}
Args:
{{.Context.Args|ArgsToTwoColumns|FormatTwoColumns}}
{{end -}}
{{if not .Context.SelectedCommand -}}
Try it without network and cluster: tlsprobe lab
{{end -}}
`
