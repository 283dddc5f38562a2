// Command ptxgen compiles the provers' kernels to the PTX that the program
// carries for machines without NVRTC (internal/ptx). It insists on one
// release of NVRTC, so that its output can be compared byte for byte, and on an
// old one, since a driver takes PTX no newer than itself: that of CUDA 12.0
// loads on every driver from 525 on.
//
//	pip download nvidia-cuda-nvrtc-cu12==12.0.140
//	ZKWARP_PTX_NVRTC=.../nvidia/cuda_nvrtc/lib/libnvrtc.so.12 go generate ./internal/ptx
//
// Without ZKWARP_PTX_NVRTC it changes nothing and says which units are stale.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/device/nvrtc"
	"github.com/zkwarp/zkwarp/internal/kernels"
	"github.com/zkwarp/zkwarp/internal/ptx"
)

const (
	env   = "ZKWARP_PTX_NVRTC"
	major = 12
	minor = 0
	arch  = "compute_80"
)

func main() {
	dir := flag.String("o", "internal/ptx/data", "folder to write")
	check := flag.Bool("check", false, "fail if a unit is missing or stale; write nothing")
	flag.Parse()
	if err := run(*dir, os.Getenv(env), *check); err != nil {
		fmt.Fprintln(os.Stderr, "ptxgen:", err)
		os.Exit(1)
	}
}

// core lists the units that provers launch; those of tests and benchmarks are
// compiled on the spot.
func core() []*kernel.Source {
	var out []*kernel.Source
	for _, s := range kernels.All() {
		if path.Base(path.Dir(s.Name)) == "prover" {
			out = append(out, s)
		}
	}
	return out
}

func run(dir, library string, check bool) error {
	if library == "" || check {
		stale, err := stale(dir)
		if err != nil {
			return err
		}
		if len(stale) > 0 && check {
			return fmt.Errorf("stale or missing: %s (set %s and run go generate ./internal/ptx)", strings.Join(stale, ", "), env)
		}
		if len(stale) > 0 {
			fmt.Fprintf(os.Stderr, "ptxgen: %s is not set, left as they are: %s\n", env, strings.Join(stale, ", "))
		}
		return nil
	}
	c, err := nvrtc.Open(library)
	if err != nil {
		return err
	}
	if c.Major != major || c.Minor != minor {
		return fmt.Errorf("%s is %s, want %d.%d", c.Path, c, major, minor)
	}
	index := ptx.Index{Compiler: c.String(), Units: map[string]ptx.Entry{}}
	files := map[string][]byte{}
	total := 0
	for _, s := range core() {
		text, _, err := c.Compile(s, arch)
		if err != nil {
			return err
		}
		name := strings.NewReplacer("/", "_", ".cu", "").Replace(s.Name) + ".ptx.gz"
		if files[name], err = pack(callNumbers.ReplaceAll(text, nil)); err != nil {
			return err
		}
		d := s.Digest()
		index.Units[s.Name] = ptx.Entry{File: name, Digest: hex.EncodeToString(d[:])}
		total += len(files[name])
	}
	b, err := json.MarshalIndent(index, "", "\t")
	if err != nil {
		return err
	}
	files["index.json"] = append(b, '\n')
	fmt.Fprintf(os.Stderr, "ptxgen: %d units, %d KiB\n", len(index.Units), total>>10)
	return write(dir, files)
}

// pack compresses; the same text gives the same bytes.
func pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(bytes.TrimRight(text, "\x00")); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// callNumbers are the comments by which NVRTC numbers calls. They count on from
// unit to unit, and not in the same way in every run.
var callNumbers = regexp.MustCompile(`(?m)[ \t]*// callseq [0-9, ]*$`)

// write replaces the folder's files.
func write(dir string, files map[string][]byte) error {
	old, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	for _, f := range old {
		if _, ok := files[filepath.Base(f)]; !ok {
			if err := os.Remove(f); err != nil {
				return err
			}
		}
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// stale lists the units of which dir has no text made from the present source.
func stale(dir string) ([]string, error) {
	store, err := ptx.Load(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range core() {
		if _, err := store.Lookup(s); err != nil {
			out = append(out, s.Name)
		}
	}
	return out, nil
}
