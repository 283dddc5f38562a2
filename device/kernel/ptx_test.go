package kernel

import (
	"os"
	"testing"
)

func TestPTXTextIsFresh(t *testing.T) {
	text, err := os.ReadFile("../ptx.cuh")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != PTX.Text {
		t.Fatal("ptx_text.go is stale: run go generate ./device/kernel")
	}
}
