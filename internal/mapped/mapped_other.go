//go:build !linux

package mapped

import (
	"fmt"
	"io"
	"os"
)

// File is a file's bytes, read into memory.
type File struct{ Bytes []byte }

// Map reads a file.
func Map(f *os.File, size int64) (*File, error) {
	if int64(int(size)) != size {
		return nil, fmt.Errorf("%d bytes are more than there are addresses", size)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	return &File{b}, nil
}

// Need does nothing: all bytes are here.
func (m *File) Need(offset, size int) error { return nil }

// Close lets go of the bytes.
func (m *File) Close() error {
	m.Bytes = nil
	return nil
}
