package cli

import (
	"bytes"
	"strings"
	"testing"
)

// A step shows at once, however short a time after the last line, and begins no stage.
func TestProgressStep(t *testing.T) {
	var out bytes.Buffer
	a := &app{progress: "plain"}
	a.Err = &out
	p := a.startProgress("bench", 1)
	p.begin("a case")
	p.step("points")
	p.step("sum 1 of 7")
	if stages := p.end(); len(stages) != 1 || stages[0].Name != "a case" {
		t.Errorf("stages %v", stages)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "zkwarp bench: a case, ") || !strings.HasSuffix(lines[0], ": points") || !strings.HasSuffix(lines[1], ": sum 1 of 7") {
		t.Errorf("lines %q", lines)
	}
}
