//go:build !unix

package keyfile

import (
	"fmt"
	"io"
	"os"
	"unsafe"
)

// mapping is a file's bytes: here they are read, to where numbers may lie.
type mapping struct{ bytes []byte }

func mapFile(f *os.File, size int64) (*mapping, error) {
	if int64(int(size)) != size {
		return nil, fmt.Errorf("%d bytes are more than there are addresses", size)
	}
	if size == 0 {
		return &mapping{}, nil
	}
	words := make([]uint64, (size+7)/8)
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	return &mapping{b}, nil
}

func (m *mapping) close() error {
	m.bytes = nil
	return nil
}
