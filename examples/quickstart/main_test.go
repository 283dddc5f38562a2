package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

func TestProveAndVerify(t *testing.T) {
	f := onnxtest.New(17, "x", 1, 3)
	model := f.Output(f.Node("Gemm", []string{"x", f.Random(1, "w", 1, 3, 2), f.Random(2, "b", 1, 2)})).Bytes()
	input := []float64{1, -0.5, 0.25}
	if err := proveAndVerify(context.Background(), model, [][]float64{input}, input); err != nil {
		t.Fatal(err)
	}
}

// The README shows the body of proveAndVerify as it is.
func TestReadme(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, body, ok := strings.Cut(string(source), "input []float64) error {\n")
	if !ok {
		t.Fatal("proveAndVerify is not where it was")
	}
	body = strings.TrimSuffix(body, "}\n")
	var want strings.Builder
	for line := range strings.Lines(body) {
		want.WriteString(strings.TrimPrefix(line, "\t"))
	}
	if !strings.Contains(string(readme), "```go\n"+want.String()+"```\n") {
		t.Error("README.md does not show the example as it is; copy it again")
	}
}
