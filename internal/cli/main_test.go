package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// The test binary is also the program, for tests that need a process.
const runAsProgram = "ZKWARP_TEST_RUN_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(runAsProgram) != "" {
		os.Exit(programForTests())
	}
	code := m.Run()
	if shared.dir != "" {
		os.RemoveAll(shared.dir)
	}
	for _, dir := range []string{several.dir, committing.dir, proving.dir} {
		if dir != "" {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// ran is what a run of the program left.
type ran struct {
	code     int
	out, err string
}

// run runs the program in this process, on the CPU.
func run(t testing.TB, args ...string) ran { return runWith(t, nil, "", args...) }

func runWith(t testing.TB, env map[string]string, stdin string, args ...string) ran {
	t.Helper()
	var out, err bytes.Buffer
	code := Main(context.Background(), args, Streams{In: strings.NewReader(stdin), Out: &out, Err: &err, LookupEnv: func(name string) (string, bool) {
		if v, ok := env[name]; ok {
			return v, ok
		}
		return "cpu", name == "ZKWARP_DEVICE"
	}})
	return ran{code, out.String(), err.String()}
}

// must is run for what has to work.
func must(t testing.TB, args ...string) string {
	t.Helper()
	r := run(t, args...)
	if r.code != ExitOK {
		t.Fatalf("zkwarp %s: exit %d: %s", strings.Join(args, " "), r.code, r.err)
	}
	return r.out
}

// object decodes the one JSON object that standard output must hold.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		t.Fatalf("standard output is not a JSON object: %v\n%s", err, text)
	}
	if rest := strings.TrimSpace(text[d.InputOffset():]); rest != "" {
		t.Fatalf("standard output has more than one object: %s", rest)
	}
	return out
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func readBytes(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// shared is a folder with a small model and everything made from it, once for
// all tests. Tests must not change it.
var shared struct {
	once sync.Once
	dir  string
}

const smallInput = `{"input_data": [[[0.5, -0.25], [1, 0.125]]]}`

// smallModel is 1x2x2 -> 5 -> 3 with sigmoid inside.
func smallModel() []byte {
	f := onnxtest.New(17, "x", 1, 2, 2)
	flat := f.Node("Flatten", []string{"x"}, onnxtest.Int("axis", 1))
	a := f.Node("Gemm", []string{flat, f.Random(1, "w1", 1, 4, 5), f.Random(2, "b1", 1, 5)})
	s := f.Node("Sigmoid", []string{a})
	return f.Output(f.Node("Gemm", []string{s, f.Random(3, "w2", 1, 5, 3), f.Random(4, "b2", 1, 3)})).Bytes()
}

// small makes the shared folder and returns it.
func small(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() {
		dir, err := os.MkdirTemp("", "zkwarp-cli-")
		if err != nil {
			t.Fatal(err)
		}
		shared.dir = dir
		in := func(name string) string { return filepath.Join(dir, name) }
		writeFile(t, in("m.onnx"), smallModel())
		writeFile(t, in("x.json"), []byte(smallInput))
		must(t, "calibrate", in("m.onnx"), "--data", in("x.json"), "--labels", "red,green,blue", "-o", in("m.zkcal"))
		must(t, "setup", in("m.onnx"), "--calibration", in("m.zkcal"), "-o", in("m"))
		must(t, "prove", "--key", in("m.pk"), "--input", in("x.json"), "-o", in("x.proof"))
		// Keys, and what goes with them, for which the input is committed.
		must(t, "setup", in("m.onnx"), "--calibration", in("m.zkcal"), "--commit-input", "x", "-o", in("c"))
		must(t, "commit", "--key", in("c.vk"), "--input", in("x.json"), "-o", in("c"))
		must(t, "prove", "--key", in("c.pk"), "--opening", in("c.opening"), "-o", in("c.proof"))
		must(t, "whir", "commit", "random:1", "--vars", "8", "--claims", "2", "--bits", "80", "-o", in("w"))
		must(t, "whir", "open", in("w.whirkey"), "--point", "random:2", "-o", in("w.proof"), "--bundle", in("w.bundle"))
	})
	if _, err := os.Stat(filepath.Join(shared.dir, "x.proof")); err != nil {
		t.Fatal("the shared files could not be made")
	}
	return shared.dir
}
