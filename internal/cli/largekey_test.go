package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
)

// runMapped is run with all keys mapped, as large ones are.
func runMapped(args ...string) (code int, text string) {
	var o, e bytes.Buffer
	code = Main(context.Background(), args, Streams{Out: &o, Err: &e, LookupEnv: func(name string) (string, bool) { return "cpu", name == "ZKWARP_DEVICE" }, MapFrom: 1})
	return code, e.String()
}

// TestLargeKey proves with a key that is mapped and checked beside the proof: the same proof as ever, and none if the key is spoiled.
func TestLargeKey(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	in, out := func(name string) string { return filepath.Join(dir, name) }, func(name string) string { return filepath.Join(temp, name) }
	prove := func(key, proof string) (int, string) {
		return runMapped("prove", "--key", key, "--input", in("x.json"), "-o", proof, "--progress", "none")
	}
	if code, text := prove(in("m.pk"), out("a.proof")); code != ExitOK {
		t.Fatalf("exit %d: %s", code, text)
	}
	must(t, "prove", "--key", in("m.pk"), "--input", in("x.json"), "-o", out("b.proof"))
	if !bytes.Equal(readBytes(t, out("a.proof")), readBytes(t, out("b.proof"))) {
		t.Error("another proof with a mapped key")
	}
	key := bytes.Clone(readBytes(t, in("m.pk")))
	key[len(key)-4] ^= 1 // a weight, of four bytes
	writeFile(t, out("bad.pk"), key)
	if code, text := prove(out("bad.pk"), out("c.proof")); code != ExitInput || !strings.Contains(text, "the proving key is spoiled: ") || strings.Count(text, "\n") != 1 {
		t.Errorf("a spoiled key: exit %d: %s", code, text)
	}
	key = key[:len(key)-1]
	writeFile(t, out("short.pk"), key)
	if code, text := prove(out("short.pk"), out("c.proof")); code != ExitInput || !strings.Contains(text, "short.pk") {
		t.Errorf("a short key: exit %d: %s", code, text)
	}
	if left := names(t, temp); len(left) != 6 {
		t.Errorf("left %v", left)
	}
}

// cutter is standard input that cuts a file short before it is read.
type cutter struct {
	path string
	in   io.Reader
}

func (c *cutter) Read(b []byte) (int, error) {
	if c.path != "" {
		if err := os.Truncate(c.path, 1); err != nil {
			return 0, err
		}
		c.path = ""
	}
	return c.in.Read(b)
}

// TestKeyCutShort proves with mapped keys whose files are cut short once they have been read: the reads of their weights fail by the file's name (0.2 s).
func TestKeyCutShort(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are not mapped")
	}
	dir, in, temp := small(t), parted(t), t.TempDir()
	whole, folder := filepath.Join(temp, "m.pk"), filepath.Join(temp, "parts.pk")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	refill := func() {
		writeFile(t, whole, readBytes(t, filepath.Join(dir, "m.pk")))
		for _, name := range names(t, in("m.pk")) {
			writeFile(t, filepath.Join(folder, name), readBytes(t, filepath.Join(in("m.pk"), name)))
		}
	}
	devices := []string{"cpu"}
	if !noEmulator() {
		devices = append(devices, "simt")
	}
	for _, name := range devices {
		dev, err := device.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		dev.SetBudget(0) // another test may have left one
		for key, file := range map[string]string{whole: whole, folder: partFile(folder, 2, ".pk")} {
			refill()
			var o, e bytes.Buffer
			code := Main(context.Background(), []string{"prove", "--device", name, "--key", key, "--input", "-", "-o", filepath.Join(temp, "x.proof"), "--progress", "none", "--force"}, Streams{
				In: &cutter{file, bytes.NewReader(readBytes(t, filepath.Join(dir, "x.json")))}, Out: &o, Err: &e, MapFrom: 1, LookupEnv: func(string) (string, bool) { return "", false },
			})
			want := "reading " + file + ": the file was cut short while it was used"
			if text := e.String(); code != ExitInput || !strings.Contains(text, want) || strings.Count(text, "\n") != 1 {
				t.Errorf("%s on %s: exit %d: %s", key, name, code, text)
			}
			if _, err := os.Stat(filepath.Join(temp, "x.proof")); err == nil {
				t.Errorf("%s on %s: there is a proof", key, name)
			}
		}
	}
}

// TestLargeKeyChecked has a spoiled key of a part where nothing is proved: it is neither kept by setup nor run.
func TestLargeKeyChecked(t *testing.T) {
	in, from, temp := hidden(t), small(t), t.TempDir()
	folder := filepath.Join(temp, "m.pk")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names(t, in("m.pk")) {
		writeFile(t, filepath.Join(folder, name), readBytes(t, filepath.Join(in("m.pk"), name)))
	}
	setup := []string{"setup", filepath.Join(from, "m.onnx"), "--calibration", filepath.Join(from, "m.zkcal"), "--layers", "0:1,1:3,3:6", "--commit-boundaries",
		"--commit-input", "all", "--commit-output", "all", "--progress", "none", "-o", filepath.Join(temp, "m")}
	if code, text := runMapped(setup...); code != ExitOK {
		t.Fatalf("setup with keys that are there: exit %d: %s", code, text)
	}
	part := partFile(folder, 2, ".pk")
	key := bytes.Clone(readBytes(t, part))
	key[len(key)-4] ^= 1 // a weight, of four bytes
	writeFile(t, part, key)
	whole := bytes.Clone(readBytes(t, filepath.Join(from, "m.pk")))
	whole[len(whole)-4] ^= 1
	writeFile(t, filepath.Join(temp, "bad.pk"), whole)
	for name, args := range map[string][]string{
		"setup":              setup,
		"mock of a model":    {"mock", "--key", filepath.Join(temp, "bad.pk"), "--input", filepath.Join(from, "x.json")},
		"mock of all pieces": {"mock", "--key", folder, "--input", filepath.Join(from, "x.json")},
	} {
		if name == "setup" {
			if err := os.Remove(filepath.Join(temp, "m.vk")); err != nil {
				t.Fatal(err)
			}
		}
		if code, text := runMapped(args...); code == ExitOK || !strings.Contains(text, "the proving key is spoiled") {
			t.Errorf("%s: exit %d: %s", name, code, text)
		}
	}
}

// TestMemoryWarning makes keys whose proofs need more memory than the machine has, and than it does not have.
func TestMemoryWarning(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	for have, warned := range map[int64]bool{1 << 20: true, 1 << 30: false} {
		var o, e bytes.Buffer
		code := Main(context.Background(), []string{"setup", filepath.Join(dir, "m.onnx"), "--calibration", filepath.Join(dir, "m.zkcal"), "--device", "cpu", "-o", filepath.Join(temp, "m"), "--progress", "none", "--force"},
			Streams{Out: &o, Err: &e, LookupEnv: func(string) (string, bool) { return "", false }, Memory: func() int64 { return have }})
		text := e.String()
		if code != ExitOK || strings.Contains(text, "a proof with this key will not fit") != warned || warned && (!strings.Contains(text, "1.00 MiB are available") || !strings.Contains(text, "--chunk-budget-gb 0.00105")) {
			t.Errorf("%d bytes: exit %d: %s", have, code, text)
		}
	}
}

// TestMemoryPlan prints the plan of a proof's memory, and refuses a proof that is beyond it with what would fit.
func TestMemoryPlan(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	args := []string{"prove", "--key", filepath.Join(dir, "m.pk"), "--input", filepath.Join(dir, "x.json"), "-o", filepath.Join(temp, "p")}
	r := run(t, append(args, "--log-level", "info")...)
	if r.code != ExitOK || !strings.Contains(r.err, "msg=memory device=cpu form=wide key=") || !strings.Contains(r.err, `limit="no limit"`) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	dev, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.SetBudget(0) // the limit is the device's, and the device is that of all tests
	r = run(t, append(args, "--force", "--memory-budget", "50KiB")...)
	if r.code != ExitMemory || !strings.Contains(r.err, "over the limit of 50.0 KiB") || !strings.Contains(r.err, "--chunk-budget-gb 5.12e-05") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if !noEmulator() {
		r = run(t, append(args, "--force", "--log-level", "info", "--device", "simt", "--memory-budget", "50KiB")...)
		if r.code != ExitMemory || strings.Count(r.err, "form=wide") != 1 || strings.Count(r.err, "form=narrow") != 1 || !strings.Contains(r.err, "simt: plan memory") {
			t.Errorf("exit %d: %s", r.code, r.err)
		}
	}
	if text := must(t, "inspect", filepath.Join(dir, "m.pk")); !strings.Contains(text, "for the key while it is loaded") {
		t.Error(text)
	}
}
