// Package ptx carries the kernels as PTX text, for machines without NVRTC. It
// is written by internal/tools/ptxgen.
package ptx

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:generate go run ../tools/ptxgen -o data

//go:embed data
var files embed.FS

// Index describes the files of the folder data.
type Index struct {
	Compiler string           // "NVRTC 12.8"
	Units    map[string]Entry // by the unit's name
}

// Entry is one compiled unit.
type Entry struct {
	File   string // within data
	Digest string // hex of the source's digest
}

// Store is a set of compiled units.
type Store struct {
	files fs.FS
	index Index
}

// Load reads the store in dir, which holds index.json and what it lists.
func Load(dir fs.FS) (*Store, error) {
	b, err := fs.ReadFile(dir, "index.json")
	if err != nil {
		return nil, err
	}
	s := &Store{files: dir}
	if err := json.Unmarshal(b, &s.index); err != nil {
		return nil, fmt.Errorf("index of built-in PTX: %w", err)
	}
	return s, nil
}

var builtin = sync.OnceValues(func() (*Store, error) {
	dir, err := fs.Sub(files, "data")
	if err != nil {
		return nil, err
	}
	return Load(dir)
})

// Units is the number of units built in.
func Units() int {
	s, err := builtin()
	if err != nil {
		return 0
	}
	return len(s.index.Units)
}

// Lookup returns the PTX text built in for s.
func Lookup(s *kernel.Source) ([]byte, error) {
	b, err := builtin()
	if err != nil {
		return nil, err
	}
	return b.Lookup(s)
}

// limit bounds the text of one unit.
const limit = 16 << 20

// Lookup returns the PTX of s. Text made from another state of the source is
// an error: it would not compute what the source says.
func (st *Store) Lookup(s *kernel.Source) ([]byte, error) {
	e, ok := st.index.Units[s.Name]
	if !ok {
		return nil, fmt.Errorf("no PTX built in for %s", s.Name)
	}
	if d := s.Digest(); e.Digest != hex.EncodeToString(d[:]) {
		return nil, fmt.Errorf("the PTX built in for %s is stale (run go generate ./internal/ptx)", s.Name)
	}
	b, err := fs.ReadFile(st.files, e.File)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("PTX built in for %s: %w", s.Name, err)
	}
	text, err := io.ReadAll(io.LimitReader(z, limit))
	if err != nil {
		return nil, fmt.Errorf("PTX built in for %s: %w", s.Name, err)
	}
	return text, nil
}
