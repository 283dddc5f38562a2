// Package buildinfo says which build of zkwarp this is.
package buildinfo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Stamped by -ldflags "-X github.com/zkwarp/zkwarp/internal/buildinfo.commit=...";
// the commit ends in "-dirty" when the tree had changes.
var (
	version = "0.1.0-dev"
	commit  = ""
)

// Info describes the running binary.
type Info struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // "unknown" when not stamped; "-dirty" appended for changed trees
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Tags     string `json:"tags"`
}

// Get returns what is known about the running binary.
func Get() Info {
	out := Info{Version: version, Commit: commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	b, ok := debug.ReadBuildInfo()
	revision, dirty := "", false
	if ok {
		for _, s := range b.Settings {
			switch s.Key {
			case "-tags":
				out.Tags = s.Value
			case "vcs.revision":
				revision = s.Value
			case "vcs.modified":
				dirty = s.Value == "true"
			}
		}
	}
	if out.Commit == "" {
		out.Commit = "unknown"
		if revision != "" {
			out.Commit = revision
			if dirty {
				out.Commit += "-dirty"
			}
		}
	}
	return out
}

// CleanCommit returns the commit that the binary was built from, or an error
// if that is not known or the tree had changes.
func (i Info) CleanCommit() (string, error) {
	if strings.HasSuffix(i.Commit, "-dirty") {
		return "", fmt.Errorf("built from a changed tree (%s)", i.Commit)
	}
	if raw, err := hex.DecodeString(i.Commit); err != nil || len(raw) < 20 {
		return "", fmt.Errorf("the build carries no commit; build in a clone with -buildvcs=true, or stamp one with -ldflags")
	}
	return i.Commit, nil
}

// BinaryDigest is the SHA-256 of the running executable's file.
func BinaryDigest() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the executable: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
