package discover

import "time"

// grammar is the configuration file as written. config.example.yaml explains
// every key.
type grammar struct {
	Interval      time.Duration          `yaml:"interval"`
	Timeout       time.Duration          `yaml:"timeout"`
	Modules       map[string]moduleEntry `yaml:"modules"`
	Targets       []targetEntry          `yaml:"targets"`
	Sources       []sourceEntry          `yaml:"sources"`
	ProbeEndpoint struct {
		Allow allowEntry `yaml:"allow"`
	} `yaml:"probe_endpoint"`
}

// targetEntry is a target as the file and an HTTP source write it.
type targetEntry struct {
	Name        string            `yaml:"name"`
	Address     string            `yaml:"address"`
	Module      string            `yaml:"module"`
	ServerName  string            `yaml:"server_name"`
	CAFile      string            `yaml:"ca_file"`
	CA          string            `yaml:"ca"`
	SystemRoots bool              `yaml:"system_roots"`
	Interval    time.Duration     `yaml:"interval"`
	Timeout     time.Duration     `yaml:"timeout"`
	Labels      map[string]string `yaml:"labels"`
	Routes      []routeEntry      `yaml:"routes"`
}

// routeEntry is one way to a target.
type routeEntry struct {
	Via     string `yaml:"via"`
	Address string `yaml:"address"`
}

// sourceEntry is one source; exactly one of its keys is written.
type sourceEntry struct {
	HTTP       *httpEntry       `yaml:"http"`
	Kubernetes *kubernetesEntry `yaml:"kubernetes"`
}

type httpEntry struct {
	URL             string        `yaml:"url"`
	Refresh         time.Duration `yaml:"refresh"`
	CAFile          string        `yaml:"ca_file"`
	BearerTokenFile string        `yaml:"bearer_token_file"`
}
