package mapped

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// File is a file's bytes, in memory to read.
type File struct{ Bytes []byte }

// Map maps a file and tells the system that all of it will be read, from front to back, so that it reads ahead while elements are
// converted.
func Map(f *os.File, size int64) (*File, error) {
	if size == 0 {
		return &File{}, nil
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes: %w", size, err)
	}
	if err := syscall.Madvise(b, syscall.MADV_SEQUENTIAL); err != nil {
		return nil, fmt.Errorf("mapping %d bytes: %w", size, errors.Join(err, syscall.Munmap(b)))
	}
	m := &File{b}
	if err := m.Need(0, int(size)); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Need asks the system to read a part of the file now, in large pieces and without waiting for it.
func (m *File) Need(offset, size int) error {
	page := os.Getpagesize()
	start := offset / page * page
	if size == 0 {
		return nil
	}
	if err := syscall.Madvise(m.Bytes[start:offset+size], syscall.MADV_WILLNEED); err != nil {
		return fmt.Errorf("reading ahead %d bytes: %w", size, err)
	}
	return nil
}

// Close lets go of the bytes.
func (m *File) Close() error {
	if m.Bytes == nil {
		return nil
	}
	b := m.Bytes
	m.Bytes = nil
	return syscall.Munmap(b)
}
