package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
)

// inParts is a folder with the small model in three parts, made once for all tests. Tests must not change it.
var inParts struct {
	once sync.Once
	dir  string
}

// parted makes that folder, and returns a function that names its files.
func parted(t *testing.T) func(string) string {
	t.Helper()
	from := small(t)
	inParts.once.Do(func() {
		dir := filepath.Join(from, "parts")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		in := func(name string) string { return filepath.Join(dir, name) }
		must(t, "setup", filepath.Join(from, "m.onnx"), "--calibration", filepath.Join(from, "m.zkcal"), "--layers", "0:1,1:3,3:6", "-o", in("m"))
		must(t, "prove", "--key", in("m.pk"), "--input", filepath.Join(from, "x.json"), "--keep-parts", "-o", in("x.proof"))
		inParts.dir = dir
	})
	if inParts.dir == "" {
		t.Fatal("the model in parts could not be made")
	}
	return func(name string) string { return filepath.Join(inParts.dir, name) }
}

// TestParts follows a model in parts through all verbs.
func TestParts(t *testing.T) {
	in, temp := parted(t), t.TempDir()
	from := small(t)
	input := filepath.Join(from, "x.json")
	// The parts compute what the whole does, and the answer's labels are not lost.
	if got, want := readBytes(t, in("x.out.json")), readBytes(t, filepath.Join(from, "x.out.json")); !bytes.Equal(got, want) {
		t.Errorf("the answer is %s, of the whole model %s", got, want)
	}
	// Any number of devices gives the same bytes.
	r := object(t, must(t, "prove", "--key", in("m.pk"), "--input", input, "--device", "cpu,cpu", "-o", filepath.Join(temp, "x.proof"), "--json"))
	if !bytes.Equal(readBytes(t, filepath.Join(temp, "x.proof")), readBytes(t, in("x.proof"))) {
		t.Error("two devices give another proof than one")
	}
	parts, devices := r["parts"].([]any), r["devices"].([]any)
	if len(parts) != 3 || len(devices) != 2 || r["parts_kept"] != 0.0 || len(r["stages_ms"].(map[string]any)) < 4 {
		t.Errorf("prove: %v", r)
	}
	proved := 0
	for _, d := range devices {
		d := d.(map[string]any)
		proved += len(d["parts"].([]any))
		if d["device"] != "cpu" || d["busy_ms"].(float64) <= 0 || d["need_bytes"].(float64) <= 0 {
			t.Errorf("device: %v", d)
		}
	}
	if part := parts[2].(map[string]any); proved != 3 || part["part"] != 3.0 || part["name"] != `part 3 of 3 ("Gemm3.out" from "Sigmoid2.out")` || part["kept"] != false {
		t.Errorf("%d parts proved; the last: %v", proved, part)
	}
	if left := names(t, temp); !slices.Equal(left, []string{"x.out.json", "x.proof"}) {
		t.Errorf("files: %v", left)
	}
	verify := func(args ...string) ran {
		return run(t, slices.Concat([]string{"verify", "--key", in("m.vk"), "--input", input, "--output", in("x.out.json")}, args)...)
	}
	folder := in("x.proof.parts")
	file := func(k int) string { return partFile(folder, k, ".part") }
	for _, args := range [][]string{{in("x.proof")}, {folder}, {file(2), file(0), file(1)}} {
		if r := verify(args...); r.code != ExitOK || !strings.Contains(r.out, "3 parts") {
			t.Errorf("verify %v: exit %d: %s%s", args, r.code, r.out, r.err)
		}
	}
	if got := object(t, verify(in("x.proof"), "--json").out); got["verified"] != true || got["parts"] != 3.0 || got["security_bits"].(float64) < zkml.MinSecurity {
		t.Errorf("verify --json: %v", got)
	}
	if got, want := must(t, "mock", "--key", in("m.pk"), "--input", input), string(readBytes(t, in("x.out.json"))); got != want {
		t.Errorf("mock: %s, want %s", got, want)
	}
	for name, want := range map[string]string{"m.vk": "verifiers' key of a chain", "m.pk": "provers' key of a chain", "x.proof": "proof of a chain", "x.proof.parts/part-0002.part": "proof of a part"} {
		got := object(t, must(t, "inspect", in(name), "--json"))
		if got["kind"] != want || len(got["sha256"].(string)) != 64 {
			t.Errorf("inspect %s: %v", name, got)
		}
		if text := must(t, "inspect", in(name)); !strings.HasPrefix(text, want) || want != "proof of a part" && !strings.Contains(text, "\nparts             3\n") {
			t.Errorf("inspect %s: %s", name, text)
		} else if plan := strings.Contains(text, " for weights\n") && strings.Contains(text, " between proofs where they are kept narrow, up to "); plan != (name == "m.pk") {
			t.Errorf("memory of %s: %s", name, text)
		}
	}
	if got := object(t, must(t, "security", in("m.vk"), "--json")); got["sum"].(float64) < zkml.MinSecurity || len(got["parts"].([]any)) != 3 {
		t.Errorf("security: %v", got)
	}
}

// TestPartsRejected changes what a verifier of a chain is given.
func TestPartsRejected(t *testing.T) {
	in, temp := parted(t), t.TempDir()
	from := small(t)
	input := filepath.Join(from, "x.json")
	at := func(name string) string { return filepath.Join(temp, name) }
	part := func(k int) *chunks.PartProof {
		p, err := chunks.DecodePart(readBytes(t, partFile(in("x.proof.parts"), k, ".part")))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	put := func(name string, p *chunks.PartProof) string {
		writeFile(t, at(name), p.Encode())
		return at(name)
	}
	one, two, three := put("1.part", part(0)), put("2.part", part(1)), put("3.part", part(2))
	second, third := part(1), part(2)
	second.Part, third.Part = 2, 1
	swapped2, swapped3 := put("s2.part", third), put("s3.part", second)
	foreign := part(1)
	foreign.Chain[5] ^= 1
	boundary := part(0)
	boundary.Y[2] ^= 1
	put("later.part", boundary)
	// Another chain of the same parts: the same model with other cuts.
	must(t, "setup", filepath.Join(from, "m.onnx"), "--calibration", filepath.Join(from, "m.zkcal"), "--layers", "0:3,3:6", "-o", at("other"))
	other := at("other.vk")
	writeFile(t, at("y.json"), bytes.Replace(readBytes(t, in("x.out.json")), []byte(`"label"`), []byte(`"Label"`), 1))
	for _, c := range []struct {
		name string
		key  string
		out  string
		code int
		want string // in the message
		args []string
	}{
		{"good", in("m.vk"), in("x.out.json"), ExitOK, "", []string{one, two, three}},
		{"a part less", in("m.vk"), in("x.out.json"), ExitInput, "the proof of part 3 of 3 is missing", []string{one, two}},
		{"a part twice", in("m.vk"), in("x.out.json"), ExitInput, "two proofs of part 2 of 3", []string{one, two, two, three}},
		{"parts in each other's place", in("m.vk"), in("x.out.json"), ExitRejected, zkml.CheckOutput, []string{one, swapped2, swapped3}},
		{"a part of another chain", in("m.vk"), in("x.out.json"), ExitRejected, zkml.CheckKeyDigest, []string{one, put("f.part", foreign), three}},
		{"another boundary", in("m.vk"), in("x.out.json"), ExitRejected, "part 1 of 3: zkml: rejected: " + zkml.CheckOutputBind, []string{at("later.part"), two, three}},
		{"the key of another chain", other, in("x.out.json"), ExitRejected, zkml.CheckKeyDigest, []string{one, two, three}},
		{"the whole proof under it", other, in("x.out.json"), ExitInput, "2 parts", []string{in("x.proof")}},
		{"another answer", in("m.vk"), at("y.json"), ExitInput, "unknown field", []string{in("x.proof")}},
		{"a proof of the whole model", in("m.vk"), in("x.out.json"), ExitInput, "of one program", []string{filepath.Join(from, "x.proof")}},
		{"whole and part", in("m.vk"), in("x.out.json"), ExitUsage, "it goes alone", []string{one, in("x.proof")}},
		{"a chain's proof under the key of one program", filepath.Join(from, "m.vk"), in("x.out.json"), ExitInput, "proof", []string{in("x.proof")}},
		{"the provers' key", in("m.pk"), in("x.out.json"), ExitInput, "verifying takes the .vk file", []string{one, two, three}},
	} {
		r := run(t, slices.Concat([]string{"verify", "--key", c.key, "--input", input, "--output", c.out}, c.args)...)
		if r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: exit %d, want %d: %s, want %q in it", c.name, r.code, c.code, r.err, c.want)
		}
	}
	r := run(t, "verify", "--key", in("m.vk"), "--input", input, "--output", in("x.out.json"), "--json", one, at("f.part"), three)
	if got := object(t, r.out); r.code != ExitRejected || got["verified"] != false || got["check"] != zkml.CheckKeyDigest {
		t.Errorf("verify --json: exit %d: %s", r.code, r.out)
	}
}

// TestPartsResume interrupts a proof when its first part is there: the part stays, nothing half-made does, and the same command goes on from it.
func TestPartsResume(t *testing.T) {
	in := parted(t)
	input := filepath.Join(small(t), "x.json")
	for try := range 20 {
		temp := t.TempDir()
		out := filepath.Join(temp, "x.proof")
		first := partFile(out+".parts", 0, ".part")
		args := []string{"prove", "--key", in("m.pk"), "--input", input, "-o", out}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(first); err == nil {
					cancel() // as Ctrl-C does
				}
				time.Sleep(time.Millisecond)
			}
		}()
		var errs bytes.Buffer
		code := Main(ctx, args, Streams{Out: &bytes.Buffer{}, Err: &errs, LookupEnv: func(name string) (string, bool) { return "cpu", name == "ZKWARP_DEVICE" }})
		cancel()
		if code == ExitOK && try < 19 {
			continue // it was over before
		}
		left := names(t, temp)
		if code != ExitInterrupted || !slices.Equal(left, []string{"x.proof.parts"}) {
			t.Fatalf("exit %d, left %v: %s", code, left, errs.String())
		}
		kept := names(t, out+".parts")
		for _, name := range kept {
			if !strings.HasSuffix(name, ".part") {
				t.Errorf("left %s", name)
			}
		}
		if len(kept) == 0 {
			t.Fatal("no part is left")
		}
		got := object(t, must(t, append(args, "--json")...))
		if got["parts_kept"] != float64(len(kept)) || got["parts"].([]any)[0].(map[string]any)["kept"] != true {
			t.Errorf("%d parts were there: %v", len(kept), got)
		}
		if !bytes.Equal(readBytes(t, out), readBytes(t, in("x.proof"))) {
			t.Error("a proof that was interrupted is another one")
		}
		return
	}
}

// TestStaleParts leaves proofs of parts that are of something else: they are noticed, and made anew.
func TestStaleParts(t *testing.T) {
	in, temp := parted(t), t.TempDir()
	out := filepath.Join(temp, "x.proof")
	input := filepath.Join(small(t), "x.json")
	prepare := func() string {
		t.Helper()
		dir := out + ".parts"
		os.RemoveAll(out)
		os.RemoveAll(filepath.Join(temp, "x.out.json"))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for k := range 3 {
			writeFile(t, partFile(dir, k, ".part"), readBytes(t, partFile(in("x.proof.parts"), k, ".part")))
		}
		return dir
	}
	edit := func(k int, f func(*chunks.PartProof)) func(string) {
		return func(dir string) {
			p, err := chunks.DecodePart(readBytes(t, partFile(dir, k, ".part")))
			if err != nil {
				t.Fatal(err)
			}
			f(p)
			writeFile(t, partFile(dir, k, ".part"), p.Encode())
		}
	}
	other := filepath.Join(temp, "other.json")
	writeFile(t, other, []byte(`{"input_data": [[[0.25, -0.25], [1, 0.125]]]}`))
	for _, c := range []struct {
		name   string
		spoil  func(dir string)
		flags  []string
		stale  int
		reason string
	}{
		{"nothing", func(string) {}, nil, 0, ""},
		{"another input", func(string) {}, []string{"--input", other}, 3, "for another input"},
		{"another context", func(string) {}, []string{"--context", "nonce"}, 3, "rejected"},
		{"another chain", edit(1, func(p *chunks.PartProof) { p.Chain[0] ^= 1 }), nil, 1, "of the chain"},
		{"another part", edit(1, func(p *chunks.PartProof) { p.Part = 2 }), nil, 1, "of part 3, want 2"},
		{"a changed byte", edit(1, func(p *chunks.PartProof) { p.Proof[len(p.Proof)/2] ^= 1 }), nil, 1, "rejected"},
		{"another output", edit(1, func(p *chunks.PartProof) { p.Y[0]++ }), nil, 1, zkml.CheckOutputBind},
		{"half a file", func(dir string) {
			data := readBytes(t, partFile(dir, 0, ".part"))
			writeFile(t, partFile(dir, 0, ".part"), data[:len(data)/2])
		}, nil, 1, "needs"},
	} {
		c.spoil(prepare())
		args := append([]string{"prove", "--key", in("m.pk"), "-o", out, "--json"}, c.flags...)
		if !slices.Contains(c.flags, "--input") {
			args = append(args, "--input", input)
		}
		r := run(t, args...)
		if r.code != ExitOK {
			t.Errorf("%s: exit %d: %s", c.name, r.code, r.err)
			continue
		}
		stale, _ := object(t, r.out)["parts_stale"].([]any)
		if len(stale) != c.stale || !strings.Contains(r.err, c.reason) || strings.Count(r.err, "left by another run") != c.stale {
			t.Errorf("%s: parts %v are stale, want %d: %s", c.name, stale, c.stale, r.err)
		}
		if len(c.flags) == 0 && !bytes.Equal(readBytes(t, out), readBytes(t, in("x.proof"))) {
			t.Errorf("%s: another proof", c.name)
		}
	}
}

// TestPartsSetup goes on with a setup that was interrupted, and refuses keys of anything else.
func TestPartsSetup(t *testing.T) {
	in, temp := parted(t), t.TempDir()
	from := small(t)
	at := func(name string) string { return filepath.Join(temp, name) }
	setup := func(model string, more ...string) []string {
		return append([]string{"setup", model, "--calibration", at("m.zkcal"), "--layers", "0:1,1:3,3:6", "-o", at("m")}, more...)
	}
	writeFile(t, at("m.zkcal"), readBytes(t, filepath.Join(from, "m.zkcal")))
	if err := os.Mkdir(at("m.pk"), 0o755); err != nil {
		t.Fatal(err)
	}
	key := func(k int) []byte { return readBytes(t, partFile(in("m.pk"), k, ".pk")) }
	model := filepath.Join(from, "m.onnx")
	writeFile(t, partFile(at("m.pk"), 1, ".pk"), key(1))
	got := object(t, must(t, setup(model, "--json", "--device", "cpu,cpu")...))
	for k, part := range got["parts"].([]any) {
		part := part.(map[string]any)
		if part["kept"] != (k == 1) || part["part"] != float64(k+1) || part["memory_bytes"].(float64) <= 0 {
			t.Errorf("part %d: %v", k, part)
		}
		if !bytes.Equal(readBytes(t, partFile(at("m.pk"), k, ".pk")), key(k)) {
			t.Errorf("part %d is another key", k)
		}
	}
	if !bytes.Equal(readBytes(t, at("m.vk")), readBytes(t, in("m.vk"))) {
		t.Error("another chain")
	}
	if r := run(t, setup(model)...); r.code != ExitUsage || !strings.Contains(r.err, "m.vk exists") {
		t.Errorf("again: exit %d: %s", r.code, r.err)
	}
	os.Remove(at("m.vk"))
	// Keys of another level of security, of another part, of another model.
	r := run(t, setup(model, "--security", "98")...)
	if r.code != ExitUsage || !strings.Contains(r.err, "another program, mode, level of security") {
		t.Errorf("another level: exit %d: %s", r.code, r.err)
	}
	prove := func() ran {
		return run(t, "prove", "--key", at("m.pk"), "--input", filepath.Join(from, "x.json"), "-o", at("n.proof"))
	}
	writeFile(t, partFile(at("m.pk"), 0, ".pk"), key(2))
	if r := prove(); r.code != ExitInput || !strings.Contains(r.err, "part 1 of 3 (") || !strings.Contains(r.err, "made for another part or model") {
		t.Errorf("proving with keys in another order: exit %d: %s", r.code, r.err)
	}
	if r = run(t, setup(model)...); r.code != ExitUsage || !strings.Contains(r.err, "part-0001.pk is left from before") || !strings.Contains(r.err, "part 1 of 3 on cpu") {
		t.Errorf("another part's key: exit %d: %s", r.code, r.err)
	}
	os.Remove(partFile(at("m.pk"), 0, ".pk"))
	if r := prove(); r.code != ExitInput || !strings.Contains(r.err, "part-0001.pk: no such file") {
		t.Errorf("proving without a part's key: exit %d: %s", r.code, r.err)
	}
	must(t, setup(model, "-q")...)
	// The model changed after setup.
	data := slices.Clone(readBytes(t, model))
	data[bytes.Index(data, []byte("\x42\x02w2"))+12] ^= 0x60 // in a weight, which follows the name
	writeFile(t, at("new.onnx"), data)
	must(t, "calibrate", at("new.onnx"), "--data", filepath.Join(from, "x.json"), "--labels", "red,green,blue", "-o", at("m.zkcal"), "--force")
	os.Remove(at("m.vk"))
	if r = run(t, setup(at("new.onnx"))...); r.code != ExitUsage || !strings.Contains(r.err, "part-0003.pk is left from before") || !strings.Contains(r.err, "its weights have the digest") {
		t.Errorf("another model: exit %d: %s", r.code, r.err)
	}
	must(t, setup(at("new.onnx"), "--force", "-q")...)
	if r := prove(); r.code != ExitOK {
		t.Errorf("after setup again: exit %d: %s", r.code, r.err)
	}
	if r := run(t, "verify", "--key", in("m.vk"), "--input", filepath.Join(from, "x.json"), "--output", at("n.out.json"), at("n.proof")); r.code != ExitRejected {
		t.Errorf("a proof of the new model under the old key: exit %d: %s", r.code, r.err)
	}
}

// TestPieces proves pieces of a model on their own, as machines that share nothing but files would, and links them.
func TestPieces(t *testing.T) {
	dir, from := t.TempDir(), small(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	setup := func(layers, security, name string) {
		must(t, "setup", filepath.Join(from, "m.onnx"), "--calibration", filepath.Join(from, "m.zkcal"), "--layers", layers, "--security", security, "-o", at(name))
	}
	setup("0:3", "97", "a")
	setup("3:6", "97", "b")
	// A piece by itself: its boundary is its output.
	must(t, "prove", "--key", at("a.pk"), "--input", filepath.Join(from, "x.json"), "-o", at("alone.proof"))
	must(t, "verify", "--key", at("a.vk"), "--input", filepath.Join(from, "x.json"), "--output", at("alone.out.json"), at("alone.proof"))
	must(t, "link", at("a.vk"), at("b.vk"), "-o", at("ab.vk"))
	must(t, "prove", "--key", at("a.pk"), "--chain", at("ab.vk"), "--input", filepath.Join(from, "x.json"), "-o", at("a.part"))
	must(t, "prove", "--key", at("b.pk"), "--chain", at("ab.vk"), "--input", at("a.out.json"), "-o", at("b.part"))
	want, got := readBytes(t, filepath.Join(from, "x.out.json")), readBytes(t, at("b.out.json"))
	if !bytes.Equal(got, want) {
		t.Errorf("the pieces say %s, the whole %s", got, want)
	}
	verify := []string{"verify", "--key", at("ab.vk"), "--input", filepath.Join(from, "x.json"), "--output", at("b.out.json"), at("a.part")}
	must(t, append(verify, at("b.part"))...)
	// A proof of the piece by itself is none of the part.
	alone, err := chunks.DecodePart(readBytes(t, at("a.part")))
	if err != nil {
		t.Fatal(err)
	}
	alone.Proof = readBytes(t, at("alone.proof"))
	writeFile(t, at("a.part"), alone.Encode())
	if r := run(t, append(verify, at("b.part"))...); r.code != ExitRejected || !strings.Contains(r.err, "part 1 of 2: ") {
		t.Errorf("a proof from outside the chain: exit %d: %s", r.code, r.err)
	}
	setup("3:6", "96", "weak")
	setup("0:3", "96", "weak0")
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{ExitUsage, []string{"link", at("weak0.vk"), at("weak.vk"), "-o", at("n.vk")}, "setup --security 97"},
		{ExitInput, []string{"link", at("a.vk"), at("a.vk"), "-o", at("n.vk")}, "given again by part 2"},
		{ExitInput, []string{"link", at("a.pk"), at("b.vk"), "-o", at("n.vk")}, "verifying takes the .vk file"},
		{ExitInput, []string{"link", at("ab.vk"), at("b.vk"), "-o", at("n.vk")}, "of a chain"},
		{ExitInput, []string{"prove", "--key", at("weak.pk"), "--chain", at("ab.vk"), "--input", at("a.out.json"), "-o", at("n.part")}, "which no part of the chain has"},
		{ExitInput, []string{"prove", "--key", at("b.pk"), "--input", at("b.out.json"), "-o", at("n.part")}, "values"},
		{ExitInput, []string{"prove", "--key", at("b.pk"), "--chain", at("a.vk"), "--input", at("a.out.json"), "-o", at("n.part")}, "not the key of a chain"},
		{ExitUsage, []string{"prove", "--key", at("b.pk"), "--keep-parts", "--input", at("a.out.json"), "-o", at("n.part")}, "--keep-parts"},
	} {
		if r := run(t, c.args...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: exit %d, want %d: %s, want %q in it", c.args, r.code, c.code, r.err, c.want)
		}
	}
}

// TestProveModelParts is the short way, with the number of parts or the memory of a device given.
func TestProveModelParts(t *testing.T) {
	dir, from := t.TempDir(), small(t)
	args := []string{"prove-model", "--model", filepath.Join(from, "m.onnx"), "--input", filepath.Join(from, "x.json"), "--json"}
	got := object(t, must(t, append(args, "--parts", "2", "--device", "cpu,cpu", "-o", filepath.Join(dir, "p"))...))
	if got["verified"] != true || len(got["parts"].([]any)) != 2 || len(got["devices"].([]any)) != 2 || len(got["setup_parts"].([]any)) != 2 {
		t.Errorf("%v", got)
	}
	must(t, "verify", "--key", filepath.Join(dir, "p.vk"), "--input", filepath.Join(from, "x.json"), "--output", filepath.Join(dir, "p.out.json"), filepath.Join(dir, "p.proof"))
	r := run(t, "verify", "--key", filepath.Join(from, "m.vk"), "--input", filepath.Join(from, "x.json"), "--output", filepath.Join(dir, "p.out.json"), filepath.Join(dir, "p.proof"))
	if r.code != ExitInput || !strings.Contains(r.err, "is of a model in parts") {
		t.Errorf("a proof in parts for a key of one: exit %d: %s", r.code, r.err)
	}
	if left := names(t, dir); !slices.Equal(left, []string{"p.out.json", "p.pk", "p.proof", "p.vk"}) {
		t.Errorf("files: %v", left)
	}
	// A budget below what the whole model needs cuts it; the parts need less than the budget then.
	const budget = margin * 5.7e6
	got = object(t, must(t, append(args, "--chunk-budget-gb", "0.0057")...))
	parts, _ := got["setup_parts"].([]any)
	if len(parts) < 2 {
		t.Fatalf("not cut: %v", got)
	}
	for _, p := range parts {
		if need := p.(map[string]any)["memory_bytes"].(float64); need > budget {
			t.Errorf("a part needs %.0f bytes: %v", need, p)
		}
	}
}

// TestTightBudget asks for less than the largest operation needs, which is more than a quarter of the model: the parts are as small as they can be, with a warning.
func TestTightBudget(t *testing.T) {
	dir, from := t.TempDir(), small(t)
	setup := []string{"setup", filepath.Join(from, "m.onnx"), "--calibration", filepath.Join(from, "m.zkcal"), "--json"}
	r := run(t, append(setup, "--chunk-budget-gb", "1e-9", "-o", filepath.Join(dir, "b"))...)
	if r.code != ExitOK || !strings.Contains(r.err, "parts cannot be as small") {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	tight, finest := object(t, r.out)["parts"].([]any), object(t, must(t, append(setup, "--parts", "100", "-o", filepath.Join(dir, "p"))...))["parts"].([]any)
	if len(tight) < 2 || len(tight) != len(finest) {
		t.Errorf("%d parts; with the largest as small as can be there are %d", len(tight), len(finest))
	}
}

// TestPublicParts proves parts of a model that verifiers have.
func TestPublicParts(t *testing.T) {
	dir, from := t.TempDir(), small(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	model, cal, input := filepath.Join(from, "m.onnx"), filepath.Join(from, "m.zkcal"), filepath.Join(from, "x.json")
	must(t, "setup", model, "--calibration", cal, "--public-weights", "--layers", "0:3,3:6", "-o", at("m"))
	prove := []string{"prove", "--key", at("m.pk"), "--input", input, "-o", at("x.proof"), "--keep-parts", "--json"}
	must(t, prove...)
	verify := []string{"verify", "--key", at("m.vk"), "--input", input, "--output", at("x.out.json"), at("x.proof")}
	if r := run(t, verify...); r.code != ExitUsage {
		t.Errorf("without the model: exit %d: %s", r.code, r.err)
	}
	must(t, append(verify, "--model", model, "--calibration", cal)...)
	os.Remove(at("x.proof"))
	os.Remove(at("x.out.json"))
	if got := object(t, must(t, prove...)); got["parts_kept"] != 2.0 {
		t.Errorf("parts with public weights are not kept: %v", got)
	}
}

// TestPieceTwice links two pieces, each of which goes on from the other, twice each, and proves every place (0.3 s).
func TestPieceTwice(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	d, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	piece := func(name, from, to string, move int32) {
		b := graph.NewBuilder(name)
		y := make([]int32, 1<<8)
		for i := range y {
			y[i] = min(max(int32(i)-1<<7+move, -100), 100)
		}
		out := b.Lookup(to, b.Input(from, []int{4}, -100, 100, 1), 0, b.Table("moved", 8, y), 1)
		p, w, err := b.BuildAll([]graph.TensorID{out}, nil)
		if err != nil {
			t.Fatal(err)
		}
		vk, pk, err := zkprover.Setup(q, p, w, &zkprover.SetupOptions{Security: 99})
		if err != nil {
			t.Fatal(err)
		}
		code, err := pk.Encode()
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, at(name+".pk"), code)
		writeFile(t, at(name+".vk"), vk.Encode())
	}
	piece("a", "x", "y", 1)
	piece("b", "y", "x", 10)
	must(t, "link", at("a.vk"), at("b.vk"), at("a.vk"), at("b.vk"), "-o", at("m.vk"))
	writeFile(t, at("0.out.json"), []byte(`{"input_data": [[1, -2, 3, 85]]}`))
	verify := []string{"verify", "--key", at("m.vk"), "--input", at("0.out.json"), "--output", at("4.out.json")}
	for k := range 4 {
		name := fmt.Sprint(k + 1)
		must(t, "prove", "--key", at(string("abab"[k])+".pk"), "--chain", at("m.vk"), "--part", name, "--input", at(fmt.Sprint(k)+".out.json"), "-o", at(name+".part"))
		verify = append(verify, at(name+".part"))
	}
	must(t, verify...)
	if got := string(readBytes(t, at("4.out.json"))); !strings.Contains(strings.Join(strings.Fields(got), ""), "[23,20,25,100]") {
		t.Errorf("the answer is %s", got)
	}
	// The same proof at the key's other place.
	part, err := chunks.DecodePart(readBytes(t, at("1.part")))
	if err != nil {
		t.Fatal(err)
	}
	part.Part = 2
	writeFile(t, at("3.part"), part.Encode())
	if r := run(t, verify...); r.code != ExitRejected {
		t.Errorf("a proof at another place: exit %d: %s", r.code, r.err)
	}
	prove := []string{"prove", "--key", at("a.pk"), "--input", at("0.out.json"), "-o", at("n.part")}
	for want, args := range map[string][]string{
		"the key is that of parts 1, 3 of 4: pass --part": {"--chain", at("m.vk")},
		"--part 2: the key is that of parts 1, 3 of 4":    {"--chain", at("m.vk"), "--part", "2"},
		"--part 0: want the number":                       {"--chain", at("m.vk"), "--part", "0"},
		"and --chain":                                     {"--part", "1"},
	} {
		if r := run(t, append(prove, args...)...); r.code != ExitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%v: exit %d: %s, want %q in it", args, r.code, r.err, want)
		}
	}
}
