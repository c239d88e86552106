package cluster

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
)

// An Image is a container image of one layer, made without a builder or a
// registry: containerd imports the archive that Write makes.
type Image struct {
	Name       string            // with its registry: "docker.io/tlsprobe/tlsprobe:0.1.0"
	Files      map[string]string // by their path in the image, the files of this machine
	User       string            // "65532:65532"; "": root
	Entrypoint []string
	Cmd        []string
}

// ImageOf returns the image that the last stage of a Dockerfile describes.
// file says which file of this machine is meant by the source of a COPY.
func ImageOf(dockerfile, name string, file func(source string) (string, error)) (*Image, error) {
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		return nil, err
	}
	image := &Image{Name: name}
	for line := range strings.Lines(string(text)) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if instruction == "FROM" {
			image = &Image{Name: name, Files: map[string]string{}}
			continue
		}
		if err := image.instruct(instruction, rest, file); err != nil {
			return nil, fmt.Errorf("%s: %s %s: %w", dockerfile, instruction, rest, err)
		}
	}
	return image, nil
}

// instruct carries out one instruction of a Dockerfile, of those that say what
// is in an image or how it starts.
func (i *Image) instruct(instruction, rest string, file func(string) (string, error)) error {
	switch instruction {
	case "USER":
		i.User = rest
	case "ENTRYPOINT":
		return json.Unmarshal([]byte(rest), &i.Entrypoint)
	case "CMD":
		return json.Unmarshal([]byte(rest), &i.Cmd)
	case "COPY":
		words := strings.Fields(rest)
		if i.Files == nil || !strings.HasPrefix(words[0], "--from=") || len(words) != 3 {
			return nil // of an earlier stage
		}
		local, err := file(words[1])
		if err != nil {
			return err
		}
		to := words[2]
		if strings.HasSuffix(to, "/") {
			to += path.Base(words[1])
		}
		i.Files[to] = local
	}
	return nil
}

// A blob is a part of an image, named by its digest.
type blob []byte

func (b blob) digest() string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }

// A descriptor points to a blob (OCI image-spec, descriptor.md).
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

func (b blob) descriptor(mediaType string) descriptor {
	return descriptor{MediaType: "application/vnd.oci.image." + mediaType, Digest: b.digest(), Size: len(b)}
}

// Write makes the archive, an OCI image layout (image-spec, image-layout.md).
func (i *Image) Write(to io.Writer) error {
	layer, err := i.layer()
	if err != nil {
		return fmt.Errorf("the image %q: %w", i.Name, err)
	}
	config := document(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"User": i.User, "Entrypoint": i.Entrypoint, "Cmd": i.Cmd, "WorkingDir": "/"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{layer.digest()}},
	})
	manifest := document(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": config.descriptor("config.v1+json"),
		"layers": []descriptor{layer.descriptor("layer.v1.tar")},
	})
	entry := manifest.descriptor("manifest.v1+json")
	entry.Platform = map[string]string{"os": "linux", "architecture": runtime.GOARCH}
	entry.Annotations = map[string]string{"io.containerd.image.name": i.Name}
	index := document(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []descriptor{entry},
	})

	archive := tar.NewWriter(to)
	add := func(name string, content []byte) {
		if err == nil {
			err = archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))})
		}
		if err == nil {
			_, err = archive.Write(content)
		}
	}
	add("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	add("index.json", index)
	for _, b := range []blob{layer, config, manifest} {
		add("blobs/"+strings.Replace(b.digest(), ":", "/", 1), b)
	}
	if err != nil {
		return err
	}
	return archive.Close()
}

// layer is the image's files, and the folders that the runtime mounts things on.
func (i *Image) layer() (blob, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	known := map[string]bool{"/": true}
	var folder func(name string) error
	folder = func(name string) error {
		if known[name] {
			return nil
		}
		known[name] = true
		if err := folder(path.Dir(name)); err != nil {
			return err
		}
		return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(name, "/"), Mode: 0o755})
	}
	for _, name := range []string{"/dev", "/etc", "/proc", "/sys"} {
		if err := folder(name); err != nil {
			return nil, err
		}
	}
	var names []string
	for name := range i.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		content, err := os.ReadFile(i.Files[name])
		if err != nil {
			return nil, err
		}
		if err := folder(path.Dir(name)); err != nil {
			return nil, err
		}
		if err := archive.WriteHeader(&tar.Header{Name: strings.TrimPrefix(name, "/"), Mode: 0o755, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := archive.Write(content); err != nil {
			return nil, err
		}
	}
	return buffer.Bytes(), archive.Close()
}

// document is a value as JSON. It fails for none of those above.
func document(value any) blob {
	text, _ := json.Marshal(value)
	return text
}
