package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
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
		{ExitUnsupported, `input "tokens" cannot be committed`, []string{"--commit-input", "all"}},
		{ExitUsage, "go with one key, not with those of a model in parts", []string{"--commit-input", "x", "--parts", "2"}},
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
