// Package mutant tests tests: it builds a package with one check deleted or
// weakened, by an overlay that leaves the files alone, and expects some test to
// fail. A mutant that survives is a check that nothing tests.
//
//	func TestMutants(t *testing.T) {
//		mutant.Run(t, []mutant.Mutant{{
//			Name: "final evaluations unchecked", File: "sumcheck/verify.go",
//			Old: "if final(claims, gamma, r) != running {", New: "if false {",
//			Package: "./sumcheck", Tests: "TestCheats",
//		}})
//	}
//
// Each mutant costs a build, so a plain go test tries the first of a list. Where
// CI is set, a list gets 15 seconds, and begins elsewhere every day; all of them
// run with ZKWARP_MUTANTS=all, none with ZKWARP_MUTANTS=none or -short. RunSome gives a
// list less of CI's time.
package mutant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Mutant is one change of one file, and more where prover and verifier have to change alike.
type Mutant struct {
	Name     string   // what no longer holds
	File     string   // within the repository
	Old, New string   // Old occurs exactly once in File
	More     []Change // of other places
	Package  string   // whose tests must notice, such as "./sumcheck"
	Tests    string   // regular expression of their names; never the mutants' own test
	Says     string   // what the tests must print, if anything, so that they notice what they are about
}

// Change is a text of a file that occurs there once, and what it becomes.
type Change struct{ File, Old, New string }

// Outcome of trying a mutant.
type Outcome int

// Outcomes.
const (
	Killed   Outcome = iota // a test failed
	Survived                // all tests passed
	Broken                  // it was never tested: no build, no such test, no such text
	Unsaid                  // a test failed, but did not print what it should
)

func (o Outcome) String() string {
	return [...]string{"killed", "survived", "broken", "killed by something else"}[o]
}

const (
	variable = "ZKWARP_MUTANTS"
	few      = 1
	limit    = 2 * time.Minute  // for one mutant: it may never end
	share    = 15 * time.Second // of a list, where CI is set: then no other mutant begins
)

// Run tries the mutants and fails the test for each one that is not killed.
func Run(t *testing.T, mutants []Mutant) {
	t.Helper()
	run(t, mutants, len(mutants), stride)
}

// RunSome is Run, but where CI is set it tries n of the mutants at most, other ones every
// day.
func RunSome(t *testing.T, n int, mutants []Mutant) {
	t.Helper()
	run(t, mutants, n, n)
}

func run(t *testing.T, mutants []Mutant, most, stride int) {
	t.Helper()
	fresh(t, mutants)
	setting, ci := os.Getenv(variable), os.Getenv("CI")
	all, shared := setting == "all", setting == "" && ci != "" && ci != "0" && ci != "false"
	switch {
	case setting == "none" || testing.Short():
		t.Skip("mutants are switched off")
	case shared:
		mutants = from(mutants, time.Now(), stride)[:min(most, len(mutants))]
	case !all && len(mutants) > few:
		mutants = mutants[:few]
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command to build mutants with")
	}
	start, tried := time.Now(), 0
	for _, m := range mutants {
		if shared && time.Since(start) > share {
			break
		}
		tried++
		t.Run(strings.ReplaceAll(m.Name, " ", "_"), func(t *testing.T) {
			outcome, output, err := Try(t.Context(), t.TempDir(), m)
			if err != nil {
				t.Fatal(err)
			}
			if outcome != Killed {
				t.Errorf("%s: %s\n%s", m.Name, outcome, tail(output))
			}
		})
	}
	t.Logf("%d of %d mutants of %s tried", tried, len(mutants), mutants[0].File)
}

// fresh fails the test for mutants whose texts have changed since, whichever are tried today.
func fresh(t *testing.T, mutants []Mutant) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for i := range mutants {
		if _, err := mutants[i].changed(root); err != nil {
			t.Errorf("mutant %q: %v", mutants[i].Name, err)
		}
	}
}

// stride is about what a share is enough for.
const stride = 8

// from is the mutants, beginning elsewhere every day: `stride` further on than the day before.
func from(mutants []Mutant, day time.Time, stride int) []Mutant {
	n := int(day.Unix()/(24*60*60)) * stride % len(mutants)
	return append(append([]Mutant(nil), mutants[n:]...), mutants[:n]...)
}

// Try builds and tests one mutant, with its files in the folder dir, and returns
// the go command's output. An error means that it could not be tried.
func Try(ctx context.Context, dir string, m Mutant) (Outcome, string, error) {
	root, err := moduleRoot()
	if err != nil {
		return Broken, "", err
	}
	overlay, err := m.overlay(root, dir)
	if err != nil {
		return Broken, "", fmt.Errorf("mutant %q: %w", m.Name, err)
	}

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-ldflags=-w", "-count=1", "-timeout", limit.String(), "-run", m.Tests, m.Package)
	cmd.Dir = root
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), variable+"=none")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch s := string(out); {
	case err == nil && strings.Contains(s, "[no tests to run]"):
		return Broken, s, nil
	case err == nil:
		return Survived, s, nil
	case !errors.As(err, &exit):
		return Broken, s, fmt.Errorf("mutant %q: %w", m.Name, err)
	case strings.Contains(s, "[build failed]") || strings.Contains(s, "[setup failed]"):
		return Broken, s, nil
	case m.Says != "" && !strings.Contains(s, m.Says):
		return Unsaid, s, nil
	case ctx.Err() != nil || strings.Contains(s, "--- FAIL") || strings.Contains(s, "panic:"):
		return Killed, s, nil // that it never ends was noticed too
	default:
		return Broken, s, nil
	}
}

// changed is the text of each file that is changed, by path.
func (m *Mutant) changed(root string) (map[string]string, error) {
	texts := map[string]string{}
	for _, c := range append([]Change{{m.File, m.Old, m.New}}, m.More...) {
		path := filepath.Join(root, filepath.FromSlash(c.File))
		text, ok := texts[path] // with the changes so far
		if !ok {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			text = string(data)
		}
		if n := strings.Count(text, c.Old); n != 1 || c.Old == c.New {
			return nil, fmt.Errorf("%d places in %s to change, want 1", n, c.File)
		}
		texts[path] = strings.Replace(text, c.Old, c.New, 1)
	}
	return texts, nil
}

// overlay writes the changed files and a list of them, which it returns the path of.
func (m *Mutant) overlay(root, dir string) (string, error) {
	texts, err := m.changed(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range texts {
		replace[path] = filepath.Join(dir, fmt.Sprintf("mutant%d.go", len(replace)))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, data, 0o600)
}

// moduleRoot is the folder of the go.mod above the working folder.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("mutant: no go.mod above the working folder")
		}
		dir = up
	}
}

func tail(s string) string {
	const most = 2000
	if len(s) > most {
		return "..." + s[len(s)-most:]
	}
	return s
}
