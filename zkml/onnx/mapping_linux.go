package onnx

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// mapping is a file's bytes, in memory to read.
type mapping struct{ bytes []byte }

// mapFile maps a file and tells the system that all of it will be read, from front to back, so that it reads ahead while elements are
// converted.
func mapFile(f *os.File, size int64) (*mapping, error) {
	if size == 0 {
		return &mapping{}, nil
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes: %w", size, err)
	}
	for _, advice := range []int{syscall.MADV_SEQUENTIAL, syscall.MADV_WILLNEED} {
		if err := syscall.Madvise(b, advice); err != nil {
			return nil, fmt.Errorf("mapping %d bytes: %w", size, errors.Join(err, syscall.Munmap(b)))
		}
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
