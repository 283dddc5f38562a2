package cubin

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func key() Key {
	return Key{Name: "a/b.cu", Digest: [32]byte{1, 2, 3}, Options: []string{"--std=c++17"}, Compiler: "NVRTC 13.0", Arch: "sm_90"}
}

var image = []byte("\x7fELF and some code that is longer than a header")

func TestRoundTrip(t *testing.T) {
	c := Cache{filepath.Join(t.TempDir(), "made", "on", "demand")}
	if _, ok := c.Get(key()); ok {
		t.Fatal("found in an empty cache")
	}
	if err := c.Put(key(), image); err != nil {
		t.Fatal(err)
	}
	if got, ok := c.Get(key()); !ok || !bytes.Equal(got, image) {
		t.Fatalf("%v %q", ok, got)
	}
	if n, size := c.Size(); n != 1 || size != int64(header+len(image)) {
		t.Errorf("%d entries, %d bytes", n, size)
	}
	list, _ := os.ReadDir(c.Dir)
	if len(list) != 1 {
		t.Errorf("temporary files left: %v", list)
	}
	if err := c.Drop(key()); err != nil {
		t.Fatal(err)
	}
	if err := c.Drop(key()); err != nil {
		t.Fatalf("second drop: %v", err)
	}
	if _, ok := c.Get(key()); ok {
		t.Fatal("found after Drop")
	}
}

// Every part of the key must separate entries.
func TestKeys(t *testing.T) {
	c := Cache{t.TempDir()}
	if err := c.Put(key(), image); err != nil {
		t.Fatal(err)
	}
	for name, alter := range map[string]func(*Key){
		"digest":   func(k *Key) { k.Digest[31] = 1 },
		"arch":     func(k *Key) { k.Arch = "sm_80" },
		"compiler": func(k *Key) { k.Compiler = "NVRTC 12.8" },
		"options":  func(k *Key) { k.Options = append(k.Options, "-G") },
		"split":    func(k *Key) { k.Options = []string{"--std=", "c++17"} },
	} {
		k := key()
		alter(&k)
		if _, ok := c.Get(k); ok {
			t.Errorf("%s: another key's image", name)
		}
		// A foreign file under the right name must not pass either.
		if err := os.Rename(filepath.Join(c.Dir, key().file()), filepath.Join(c.Dir, k.file())); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Get(k); ok {
			t.Errorf("%s: foreign entry accepted", name)
		}
		if err := os.Rename(filepath.Join(c.Dir, k.file()), filepath.Join(c.Dir, key().file())); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := c.Get(key()); !ok {
		t.Error("lost the entry")
	}
}

// No single altered byte and no truncation is accepted, and Put repairs.
func TestCorruption(t *testing.T) {
	c := Cache{t.TempDir()}
	if err := c.Put(key(), image); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(c.Dir, key().file())
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Get(key()); ok {
			t.Errorf("%s accepted", what)
		}
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		check("altered byte", b)
		check("truncation", whole[:i])
	}
	check("trailing byte", append(bytes.Clone(whole), 0))
	if err := c.Put(key(), image); err != nil {
		t.Fatal(err)
	}
	if got, ok := c.Get(key()); !ok || !bytes.Equal(got, image) {
		t.Error("not repaired")
	}
}

func TestConcurrent(t *testing.T) {
	c := Cache{t.TempDir()}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := c.Put(key(), image); err != nil {
					t.Error(err)
				}
				if got, ok := c.Get(key()); !ok || !bytes.Equal(got, image) {
					t.Error("torn read")
				}
			}
		})
	}
	wg.Wait()
}

func TestNowhere(t *testing.T) {
	var c Cache
	if err := c.Put(key(), image); err != nil {
		t.Error(err)
	}
	if _, ok := c.Get(key()); ok {
		t.Error("found")
	}
	if err := (Cache{filepath.Join(os.DevNull, "x")}).Put(key(), image); err == nil {
		t.Error("stored under a file")
	}
}
