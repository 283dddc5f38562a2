package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/zkwarp/zkwarp/"

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// list returns the module's packages, without their tests.
func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = "../.."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// room is the room of a package path within the module.
func room(path string) string {
	first, rest, _ := strings.Cut(path, "/")
	if first != "internal" {
		return first
	}
	second, _, _ := strings.Cut(rest, "/")
	return first + "/" + second
}

func TestImports(t *testing.T) {
	seen := map[string]map[string]bool{} // room -> rooms
	for _, p := range list(t) {
		from := room(strings.TrimPrefix(p.ImportPath, module))
		if _, ok := Rooms[from]; !ok {
			t.Errorf("package %s: room %s is not in the table", p.ImportPath, from)
			continue
		}
		if seen[from] == nil {
			seen[from] = map[string]bool{}
		}
		for _, path := range p.Imports {
			path, ok := strings.CutPrefix(path, module)
			if !ok || room(path) == from {
				continue
			}
			to := room(path)
			seen[from][to] = true
			if Rooms[to].Rank != shared && !slices.Contains(Rooms[from].Imports, to) {
				t.Errorf("%s imports %s: the table has no edge from %s to %s", p.ImportPath, path, from, to)
			}
			if from == "internal/ptx" && path != "device/kernel" {
				t.Errorf("%s imports %s; of device it may know the kernel package only", p.ImportPath, path)
			}
		}
	}
	for from, r := range Rooms {
		if seen[from] == nil {
			t.Errorf("the table has a room %s, the module has not", from)
		}
		for _, to := range r.Imports {
			cyclic := from == "device" && to == "internal/ptx" || from == "internal/ptx" && to == "device"
			if Rooms[to].Rank >= r.Rank && !cyclic {
				t.Errorf("the table lets %s (rank %d) import %s (rank %d)", from, r.Rank, to, Rooms[to].Rank)
			}
		}
	}
}

// light says whether a package is for verifiers: those below the command line
// that are neither a prover nor a help for tests.
func light(path string) bool {
	r := room(path)
	if Rooms[r].Device || slices.Contains(Rooms[r].Computes, path) || Rooms[r].Rank < Rooms["field"].Rank || Rooms[r].Rank > Rooms["zkml"].Rank {
		return false
	}
	for _, part := range strings.Split(path, "/") {
		if part == "prover" || part == "conformance" || strings.HasSuffix(part, "test") {
			return false
		}
	}
	return true
}

// A verifier must not pull in devices, nor anything that starts processes or
// opens connections.
func TestLightPackages(t *testing.T) {
	var paths []string
	for _, p := range list(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if !light(path) {
			continue
		}
		paths = append(paths, "./"+path)
		for _, d := range p.Deps {
			within := strings.TrimPrefix(d, module)
			switch {
			case d == "os/exec", d == "net", d == "net/http", d == "plugin":
				t.Errorf("%s depends on %s", path, d)
			case within == "device/kernel" || within == d:
			case room(within) == "device", !light(within) && Rooms[room(within)].Rank != shared:
				t.Errorf("%s is for verifiers but depends on %s", path, within)
			}
		}
	}
	if len(paths) < 5 {
		t.Fatalf("light packages: %v", paths)
	}
	if testing.Short() {
		return
	}
	cmd := exec.Command("go", append([]string{"build"}, paths...)...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("building for js/wasm: %v\n%s", err, out)
	}
}

func TestRoom(t *testing.T) {
	for path, want := range map[string]string{"mle": "mle", "mle/prover": "mle", "internal/tools/gentext": "internal/tools", "field/m31": "field"} {
		if got := room(path); got != want {
			t.Errorf("room(%q) = %q", path, got)
		}
	}
	for path, want := range map[string]bool{"mle": true, "mle/prover": false, "ntt": true, "ntt/scalar": false, "zkml/onnx": true, "device": false, "bench": false,
		"field/fieldtest": false, "hash/poseidon2/conformance": false, "internal/cli": false} {
		if got := light(path); got != want {
			t.Errorf("light(%q) = %v", path, got)
		}
	}
}
