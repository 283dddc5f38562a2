package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

var committing struct {
	once sync.Once
	dir  string
}

// committedFiles makes keys of severalModel for which input x and output scores are committed, once.
func committedFiles(t testing.TB) func(string) string {
	t.Helper()
	from := severalFiles(t)
	committing.once.Do(func() {
		dir, err := os.MkdirTemp("", "zkwarp-cli-")
		if err != nil {
			t.Fatal(err)
		}
		committing.dir = dir
		in := func(name string) string { return filepath.Join(dir, name) }
		must(t, "setup", from("m.onnx"), "--calibration", from("m.zkcal"), "--commit-input", "x", "--commit-output", "scores", "-o", in("m"))
	})
	if _, err := os.Stat(filepath.Join(committing.dir, "m.vk")); err != nil {
		t.Fatal("the keys with something committed could not be made")
	}
	return func(name string) string { return filepath.Join(committing.dir, name) }
}

func TestSetupCommits(t *testing.T) {
	from, in, temp := severalFiles(t), committedFiles(t), t.TempDir()
	text := must(t, "inspect", in("m.vk"))
	for _, want := range []string{"tokens 3, ", "public\n", "x 1x4, ", "committed\n", "of commitments to input x\n", "of commitments to output scores\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("inspect of the key lacks %q:\n%s", want, text)
		}
	}
	for _, want := range []string{`committed input "x"`, `committed output "scores"`} {
		if got := must(t, "security", in("m.vk")); !strings.Contains(got, want) {
			t.Errorf("security lacks %s:\n%s", want, got)
		}
	}
	got := object(t, must(t, "setup", from("m.onnx"), "--calibration", from("m.zkcal"), "--commit-output", "all", "--commit-output", "scores", "--json", "-o", filepath.Join(temp, "n")))
	if !reflect.DeepEqual(got["committed_outputs"], []any{"scores", "Sigmoid1.out"}) || !reflect.DeepEqual(got["committed_inputs"], []any{}) {
		t.Errorf("setup --commit-output all has committed %v and %v", got["committed_inputs"], got["committed_outputs"])
	}
	for _, side := range []string{"vk", "pk"} {
		if n := len(readBytes(t, filepath.Join(temp, "n."+side))); got[side+"_bytes"] != float64(n) {
			t.Errorf("setup says that the %s has %v bytes, it has %d", side, got[side+"_bytes"], n)
		}
	}
}

func TestSetupCommitsRefused(t *testing.T) {
	from, temp := severalFiles(t), t.TempDir()
	for _, c := range []struct {
		code  int
		want  string
		flags []string
	}{
		{ExitUsage, "--commit-input scores: the model has x 1x4, tokens 3; all stands for all of them", []string{"--commit-input", "scores"}},
		{ExitUsage, "--commit-output x: the model has scores 3x2,", []string{"--commit-output", "x"}},
		{ExitUsage, "--commit-output x: the model has scores 3x2,", []string{"--commit-output", "x", "--parts", "2"}},
	} {
		r := run(t, append([]string{"setup", from("m.onnx"), "--calibration", from("m.zkcal"), "-o", filepath.Join(temp, "n")}, c.flags...)...)
		if r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: exit %d: %s", c.flags, r.code, r.err)
		}
		oneErrorLine(t, r)
		if left := names(t, temp); len(left) > 0 {
			t.Fatalf("%v: left %v", c.flags, left)
		}
	}
}

// Whoever has the input commits to it with the key of either side, and from any file that has it.
func TestCommit(t *testing.T) {
	from, in, temp := severalFiles(t), committedFiles(t), t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	writeFile(t, at("only.json"), []byte(`{"input_data": [[0.5, -0.25, 1, 0.125]]}`))
	var openings [][]byte
	for i, args := range [][]string{
		{"--key", in("m.vk"), "--input", from("x.json")},
		{"--key", in("m.pk"), "--input", "x=" + at("only.json")},
		{"--key", in("m.vk"), "--input", at("only.json"), "--device", "cpu"},
	} {
		base := at(string(rune('a' + i)))
		got := object(t, must(t, append([]string{"commit", "-o", base, "--json"}, args...)...))
		made := got["commitments"].([]any)[0].(map[string]any)
		if made["of"] != "input" || made["name"] != "x" || made["commitment"] != base+".commitment" || made["opening"] != base+".opening" || got["device"] != "cpu" {
			t.Errorf("%v: %v", args, got)
		}
		info, err := os.Stat(base + ".opening")
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the opening: %v, %v", info, err)
		}
		c, err := zkml.DecodeCommitment(readBytes(t, base+".commitment"))
		if err != nil || made["root"] != commitmentRoot(c.Root) {
			t.Errorf("%v: a commitment %v, %v, and the report %v", args, c, err, made)
		}
		openings = append(openings, readBytes(t, base+".opening"))
	}
	first, err := zkml.DecodeOpening(openings[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range openings[1:] {
		o, err := zkml.DecodeOpening(data)
		if err != nil || !slices.Equal(o.Values, first.Values) || o.Format != first.Format {
			t.Errorf("another opening of the same input: %v, %v", o, err)
		}
		if o != nil && o.Salt == first.Salt {
			t.Error("a salt is used twice")
		}
	}
	for _, name := range []string{"a.commitment", "a.opening"} {
		text := must(t, "inspect", at(name))
		with := must(t, "inspect", "--key", in("m.vk"), at(name))
		if !strings.Contains(text, "pass --key") || !strings.Contains(with, "of                input x\n") {
			t.Errorf("inspect %s: %s with the key: %s", name, text, with)
		}
		if strings.Contains(with, hexText(first.Salt[:4])) {
			t.Errorf("inspect shows a salt:\n%s", with)
		}
	}
	if text := must(t, "inspect", "--key", from("m.vk"), at("a.commitment")); !strings.Contains(text, "nothing that this key has committed") {
		t.Errorf("inspect with another key: %s", text)
	}
}

func TestCommitRefused(t *testing.T) {
	from, in, temp := severalFiles(t), committedFiles(t), t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	writeFile(t, at("far.json"), []byte(`{"input_data": [[0.5, -0.25, 1e9, 0.125]]}`))
	writeFile(t, at("few.json"), []byte(`{"x": [[0.5, -0.25, 1]]}`))
	writeFile(t, at("kept.opening"), nil)
	before := names(t, temp)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{ExitUsage, "pass --key FILE, --input FILE and -o NAME", []string{"--key", in("m.vk"), "--input", from("x.json"), "-o", "-"}},
		{ExitUsage, "has no committed input", []string{"--key", from("m.vk"), "--input", from("x.json"), "-o", at("n")}},
		{ExitUsage, "the key has input tokens public", []string{"--key", in("m.vk"), "--input", "tokens=" + from("x.json"), "-o", at("n")}},
		{ExitUsage, "kept.opening exists", []string{"--key", in("m.vk"), "--input", from("x.json"), "-o", at("kept")}},
		{ExitInput, "as x 1x4:", []string{"--key", in("m.vk"), "--input", at("few.json"), "-o", at("n")}},
		{ExitInput, "far.json", []string{"--key", in("m.vk"), "--input", at("far.json"), "-o", at("n")}},
		{ExitInput, "key " + from("x.proof"), []string{"--key", from("x.proof"), "--input", from("x.json"), "-o", at("n")}},
		{ExitInput, "chain.vk", []string{"--key", temp, "--input", from("x.json"), "-o", at("n")}},
	} {
		r := run(t, append([]string{"commit"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("%v: exit %d: %s%s", c.args, r.code, r.out, r.err)
		}
		oneErrorLine(t, r)
		if after := names(t, temp); !slices.Equal(before, after) {
			t.Fatalf("%v: left %v", c.args, after)
		}
	}
}

// Names of tensors may be anything; names of files are distinct and plain.
func TestTensorFiles(t *testing.T) {
	var list []zkml.CommittedTensor
	for _, name := range []string{"x", "X", "/enc/out:0", "", "x", strings.Repeat("a", 300), "..", "\u00e9"} {
		list = append(list, zkml.CommittedTensor{Name: name})
	}
	want := []string{"x", "X-2", "_enc_out_0", "_", "x-3", strings.Repeat("a", 64), "..", "_-2"}
	if got := zkmlfile.CommittedNames(list); !slices.Equal(got, want) {
		t.Errorf("files are called %q, want %q", got, want)
	}
}
