package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"time"
)

// etcdURL is where etcd answers, on the control plane host.
const etcdURL = "http://127.0.0.1:2379"

// startTime is how long a program may take until it answers, on a busy machine.
const startTime = 2 * time.Minute

func (c *Cluster) startEtcd(ctx context.Context) error {
	const peers = "http://127.0.0.1:2380"
	etcd, err := c.Processes.Start("etcd", c.ControlPlane.Command(context.Background(), c.Programs.Path("etcd"),
		"--name=etcd",
		"--data-dir="+filepath.Join(c.Dir, "etcd"),
		"--listen-client-urls="+etcdURL,
		"--advertise-client-urls="+etcdURL,
		"--listen-peer-urls="+peers,
		"--initial-advertise-peer-urls="+peers,
		"--initial-cluster=etcd="+peers,
		"--unsafe-no-fsync",
	))
	if err != nil {
		return err
	}
	return c.awaitHTTP(ctx, etcd, &http.Client{Transport: &http.Transport{DialContext: c.ControlPlane.Dial}}, etcdURL+"/health")
}

// awaitHTTP waits until a process answers a request by 200.
func (c *Cluster) awaitHTTP(ctx context.Context, process *Process, client *http.Client, url string) error {
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	ended := process.Done()
	go func() {
		select {
		case <-ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := Until(ctx, func() error {
		if err := process.Err(); err != nil {
			return err
		}
		return get(ctx, client, url)
	})
	if ended := process.Err(); ended != nil {
		return ended
	}
	if err != nil {
		return fmt.Errorf("%s is not ready: %w; its log ends with:\n%s", process.Name, err, process.Tail())
	}
	return nil
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	return do(client, request, nil)
}

// do wants 200, and decodes the JSON answer into it unless that is nil.
func do(client *http.Client, request *http.Request, into any) error {
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", request.URL, response.Status, body)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}

// Compact makes etcd forget all revisions but the present one, so that nobody can
// watch from an earlier one.
func (c *Cluster) Compact(ctx context.Context) error {
	client := &http.Client{Transport: &http.Transport{DialContext: c.ControlPlane.Dial, DisableKeepAlives: true}}
	var state struct{ Header struct{ Revision string } }
	if err := c.etcdCall(ctx, client, "/v3/kv/range", `{"key":"AA=="}`, &state); err != nil {
		return err
	}
	if _, err := strconv.ParseInt(state.Header.Revision, 10, 64); err != nil {
		return fmt.Errorf("etcd's revision: %w", err)
	}
	return c.etcdCall(ctx, client, "/v3/kv/compaction", `{"physical":true,"revision":"`+state.Header.Revision+`"}`, nil)
}

// etcdCall uses etcd's JSON form of its gRPC API.
func (c *Cluster) etcdCall(ctx context.Context, client *http.Client, path, body string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, etcdURL+path, bytes.NewBufferString(body))
	if err != nil {
		return err
	}
	return do(client, request, into)
}
