// Package cubin keeps compiled kernels on disk between runs.
package cubin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Key is everything that a compiled kernel depends on.
type Key struct {
	Name     string   // of the unit, for the file's name only
	Digest   [32]byte // of the sources, kernel.Source.Digest
	Options  []string
	Compiler string // "NVRTC 13.0"
	Arch     string // "sm_90"
}

func (k Key) hash() [32]byte {
	h := sha256.New()
	put := func(s string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	h.Write(k.Digest[:])
	put(k.Compiler)
	put(k.Arch)
	for _, o := range k.Options {
		put(o)
	}
	var out [32]byte
	h.Sum(out[:0])
	return out
}

func (k Key) file() string {
	h := k.hash()
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, k.Name)
	return fmt.Sprintf("%s-%s-%s%s", name, k.Arch, hex.EncodeToString(h[:12]), suffix)
}

// An entry is magic, the key's hash, the image's length and SHA-256, the image.
const (
	magic  = "zkwarp cubin 1\n\x00"
	header = len(magic) + 32 + 8 + 32
	suffix = ".cubin"
)

// Cache is a folder of compiled kernels. The zero Cache keeps nothing.
type Cache struct{ Dir string }

// Default is the cache in the user's cache folder, or an empty Cache if the
// user has none.
func Default() Cache {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}
	}
	return Cache{filepath.Join(dir, "zkwarp", "cubin")}
}

// Get returns the image for k. Entries that are cut off, altered or made for
// another key are passed over, and so rebuilt by the Put that follows.
func (c Cache) Get(k Key) ([]byte, bool) {
	if c.Dir == "" {
		return nil, false
	}
	b, err := os.ReadFile(filepath.Join(c.Dir, k.file()))
	if err != nil || len(b) < header || string(b[:len(magic)]) != magic {
		return nil, false
	}
	want := k.hash()
	b = b[len(magic):]
	if !bytes.Equal(b[:32], want[:]) {
		return nil, false
	}
	size, sum, image := binary.LittleEndian.Uint64(b[32:]), b[40:72], b[72:]
	if uint64(len(image)) != size {
		return nil, false
	}
	if got := sha256.Sum256(image); !bytes.Equal(got[:], sum) {
		return nil, false
	}
	return bytes.Clone(image), true // aligned, unlike the slice of the file
}

// Put stores the image for k. Readers see the old entry or the whole new one.
func (c Cache) Put(k Key, image []byte) (err error) {
	if c.Dir == "" {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("store %s in the kernel cache: %w", k.Name, err)
		}
	}()
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.Dir, "tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // harmless once renamed
	h, sum := k.hash(), sha256.Sum256(image)
	b := append([]byte(magic), h[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(image)))
	b = append(append(b, sum[:]...), image...)
	if _, err := f.Write(b); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(c.Dir, k.file()))
}

// Drop removes the entry for k, which a driver refused.
func (c Cache) Drop(k Key) error {
	err := os.Remove(filepath.Join(c.Dir, k.file()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Size is the number of entries and their bytes.
func (c Cache) Size() (entries int, size int64) {
	list, err := os.ReadDir(c.Dir)
	if err != nil {
		return 0, 0
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), suffix) {
			entries++
			size += info.Size()
		}
	}
	return entries, size
}
