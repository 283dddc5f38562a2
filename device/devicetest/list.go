package devicetest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// envList names the file of the tests that use the emulator.
const envList = "ZKWARP_TEST_LIST"

// tests are names of top-level tests, each once.
type tests struct {
	mu    sync.Mutex
	names []string
}

// emulated is the tests of this process that asked for the simt device.
var emulated tests

// note adds the top-level test of the test or subtest called name.
func (l *tests) note(name string) {
	name, _, _ = strings.Cut(name, "/")
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.names, name) {
		l.names = append(l.names, name)
	}
}

// write makes the file at path of the names, one a line.
func (l *tests) write(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.names) == 0 {
		return fmt.Errorf("%s=%s: no test asked for the simt device", envList, path)
	}
	return os.WriteFile(path, []byte(strings.Join(l.names, "\n")+"\n"), 0o644)
}

// restrict makes the tests listed in the file at path, if there is one, the only
// ones to run, and says whether it did.
func restrict(path string) (bool, error) {
	if path == "" {
		return false, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("%s: %w", envList, err)
	}
	expr, err := expression(string(data))
	if err != nil {
		return false, fmt.Errorf("%s=%s: %w", envList, path, err)
	}
	return true, flag.Set("test.run", expr)
}

// expression is what -run takes for the names in text, one a line.
func expression(text string) (string, error) {
	names := strings.Fields(text)
	if len(names) == 0 {
		return "", errors.New("no test is listed")
	}
	for i, name := range names {
		if !strings.HasPrefix(name, "Test") {
			return "", fmt.Errorf("%q is not a test's name", name)
		}
		names[i] = regexp.QuoteMeta(name)
	}
	return "^(" + strings.Join(names, "|") + ")$", nil
}
