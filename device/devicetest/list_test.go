package devicetest

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
)

// A run that is restricted runs the top-level tests that asked for the emulator.
func TestList(t *testing.T) {
	var l tests
	l.note("TestA/simt/x")
	l.note("TestB")
	l.note("TestA/cuda")
	path := filepath.Join(t.TempDir(), "list")
	was := flag.Lookup("test.run").Value.String()
	defer flag.Set("test.run", was)
	if did, err := restrict(path); did || err != nil {
		t.Fatalf("without a file: %v, %v", did, err)
	}
	if err := l.write(path); err != nil {
		t.Fatal(err)
	}
	if did, err := restrict(path); !did || err != nil {
		t.Fatalf("%v, %v", did, err)
	}
	if got := flag.Lookup("test.run").Value.String(); got != "^(TestA|TestB)$" {
		t.Errorf("-run %s", got)
	}
}

// A list that nobody is on would leave every test out.
func TestBadLists(t *testing.T) {
	dir := t.TempDir()
	var none tests
	if err := none.write(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "no test asked") {
		t.Errorf("an empty list was written: %v", err)
	}
	for text, want := range map[string]string{"": "no test is listed", "\n": "no test is listed", "TestA\n.*": "not a test's name"} {
		path := filepath.Join(dir, "list")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if did, err := restrict(path); did || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, did, err)
		}
	}
	if _, err := restrict(dir); err == nil {
		t.Error("a folder was taken for a list")
	}
}

// Whoever gets the emulator is on the list, and whoever does not is not.
func TestNoted(t *testing.T) {
	was := slices.Clone(emulated.names)
	defer func() { emulated.names = was }()
	emulated.names = nil
	t.Run("cpu", func(t *testing.T) { Open(t, "cpu") })
	if len(emulated.names) != 0 {
		t.Errorf("a test of the cpu is listed: %v", emulated.names)
	}
	Each(t, func(*testing.T, *device.Queue) {})
	if wanted("simt") && !slices.Equal(emulated.names, []string{"TestNoted"}) {
		t.Errorf("listed %v", emulated.names)
	}
}
