package buildinfo

import (
	"strings"
	"testing"
)

func TestCleanCommit(t *testing.T) {
	full := strings.Repeat("0a", 20)
	if got, err := (Info{Commit: full}).CleanCommit(); err != nil || got != full {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "unknown", full + "-dirty", full[:12], strings.Repeat("zz", 20)} {
		if _, err := (Info{Commit: bad}).CleanCommit(); err == nil {
			t.Errorf("%q passes for a clean commit", bad)
		}
	}
}

func TestGet(t *testing.T) {
	i := Get()
	if i.Version == "" || i.Commit == "" || !strings.HasPrefix(i.Go, "go") || !strings.Contains(i.Platform, "/") {
		t.Errorf("%+v", i)
	}
	if d, err := BinaryDigest(); err != nil || len(d) != 64 {
		t.Errorf("digest %q, %v", d, err)
	}
}
