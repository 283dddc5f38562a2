//go:build unix

package keyfile

import (
	"fmt"
	"os"
	"syscall"
)

// mapping is a file's bytes, in memory to read.
type mapping struct{ bytes []byte }

func mapFile(f *os.File, size int64) (*mapping, error) {
	if size == 0 {
		return &mapping{}, nil
	}
	if int64(int(size)) != size {
		return nil, fmt.Errorf("%d bytes are more than there are addresses", size)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes: %w", size, err)
	}
	return &mapping{b}, nil
}

func (m *mapping) close() error {
	if m.bytes == nil {
		return nil
	}
	b := m.bytes
	m.bytes = nil
	return syscall.Munmap(b)
}
