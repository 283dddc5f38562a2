package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// Small files that describe large tensors are refused before memory is taken.
func TestNotEnoughMemory(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	f := onnxtest.New(17, "x", 1<<13, 1)
	large := filepath.Join(temp, "large.onnx")
	writeFile(t, large, f.Output(f.Node("MatMul", []string{"x", f.Random(1, "w", 1, 1, 1<<13)})).Bytes())
	in := func(name string) string { return filepath.Join(dir, name) }
	for memory, commands := range map[int64][][]string{
		1 << 28: {
			{"calibrate", large, "--data", in("x.json"), "-o", filepath.Join(temp, "n")},
			{"prove-model", "--model", large, "--input", in("x.json")},
		},
		100: {
			{"mock", "--key", in("m.pk"), "--input", in("x.json")},
			{"prove", "--key", in("m.pk"), "--input", in("x.json"), "-o", filepath.Join(temp, "n")},
		},
	} {
		for _, args := range commands {
			var out, errs bytes.Buffer
			code := Main(context.Background(), args, Streams{Out: &out, Err: &errs, LookupEnv: func(string) (string, bool) { return "", false }, Memory: func() int64 { return memory }})
			if code != ExitMemory || !strings.Contains(errs.String(), "bytes of memory") || out.Len() > 0 {
				t.Errorf("%s with %d bytes: exit %d: %s%s", args[0], memory, code, out.String(), errs.String())
			}
		}
	}
	if left := names(t, temp); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}

func TestAvailableMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("known on Linux only")
	}
	if n := availableMemory(); n < 1<<20 || n > 1<<50 {
		t.Errorf("%d bytes", n)
	}
}
