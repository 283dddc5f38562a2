//go:build !linux

package onnx

import (
	"fmt"
	"io"
	"os"
)

// mapping is a file's bytes, read into memory.
type mapping struct{ bytes []byte }

func mapFile(f *os.File, size int64) (*mapping, error) {
	if int64(int(size)) != size {
		return nil, fmt.Errorf("%d bytes are more than there are addresses", size)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	return &mapping{b}, nil
}

func (m *mapping) close() error {
	m.bytes = nil
	return nil
}
