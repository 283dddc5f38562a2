package zkml

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMistakes sees that the tests exist that docs/zkml.md names, and that every
// line of its table of mistakes names some or says why there are none.
func TestMistakes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "zkml.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| mistake | tests |")
	if !ok {
		t.Fatal("no table of mistakes")
	}
	have := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		for _, m := range function.FindAllStringSubmatch(string(code), -1) {
			have[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named, rows := regexp.MustCompile("`(Test\\w+)`"), 0
	for _, m := range named.FindAllStringSubmatch(string(text), -1) {
		if !have[m[1]] {
			t.Errorf("there is no %s", m[1])
		}
	}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 4 || strings.HasPrefix(row, "|---") {
			continue
		}
		rows++
		if !named.MatchString(cells[2]) && !strings.HasPrefix(strings.TrimSpace(cells[2]), "none: ") {
			t.Errorf("no test and no reason: %s", row)
		}
	}
	// TestClasses has as many adversaries as the table has lines, numbered.
	classes, err := os.ReadFile(filepath.Join("prover", "classes_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	numbers := regexp.MustCompile(`(?m)^\t\t\{"(\d\d) `).FindAllSubmatch(classes, -1)
	for i, m := range numbers {
		if string(m[1]) != fmt.Sprintf("%02d", i+1) {
			t.Errorf("class %d is numbered %s", i+1, m[1])
		}
	}
	if rows != len(numbers) || rows < 23 {
		t.Errorf("%d mistakes, %d classes of adversaries", rows, len(numbers))
	}
}
