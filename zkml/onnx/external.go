package onnx

import (
	"crypto/sha1" // what the format asks for
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"path"
	"path/filepath"
	"strconv"

	"github.com/zkwarp/zkwarp/internal/mapped"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// externals are the files beside a model that hold the elements of its large constants. They are opened within one folder, which no name
// and no symbolic link leads out of, mapped into memory and read once from front to back.
type externals struct {
	folder string // "" where there is none
	root   *mapped.Folder
	digest hash.Hash // over the digests of all pieces read, nil while there are none
	taken  map[string]int64
	sums   map[string]string // SHA-1 of files that were asked for theirs
}

// mostTaken is how often constants may take each byte of a file, on average. Some share their elements; but a small model beside a large file
// must not be able to fill the memory.
const mostTaken = 4

// region is where a constant's elements lie.
type region struct {
	location       string
	offset, length int64
	checksum       string // SHA-1 of the whole file in hexadecimal digits, or ""
}

// parseRegion reads the keys and values of a constant that takes size bytes.
func parseRegion(t *onnxpb.TensorProto, size int64, what string) (region, error) {
	r := region{length: size}
	seen := map[string]bool{}
	for _, e := range t.ExternalData {
		if seen[e.Key] {
			return r, malformed("%s: key %s of its external data is given twice", what, Quote(e.Key))
		}
		seen[e.Key] = true
		var err error
		switch e.Key {
		case "location":
			r.location = e.Value
		case "offset":
			r.offset, err = strconv.ParseInt(e.Value, 10, 64)
		case "length":
			r.length, err = strconv.ParseInt(e.Value, 10, 64)
		case "checksum":
			r.checksum = e.Value
		case "basepath": // left over by some exporters; the folder is the model's
		default:
			return r, unsupported("%s: unknown key %s of its external data", what, Quote(e.Key))
		}
		if err != nil {
			return r, malformed("%s: %s of its external data is %s, expected a number", what, e.Key, Quote(e.Value))
		}
	}
	switch {
	case r.location == "":
		return r, malformed("%s: its external data have no location", what)
	case !filepath.IsLocal(filepath.FromSlash(r.location)):
		return r, malformed("%s: its data are at %s, outside the model's folder", what, Quote(r.location))
	default:
		r.location = path.Clean(r.location) // one name for a file
	}
	switch {
	case r.length != size:
		return r, malformed("%s has %d bytes of external data, expected %d for shape %v of %s", what, r.length, size, t.Dims, typeName(t.DataType))
	case r.offset < 0:
		return r, malformed("%s: its external data begin at byte %d", what, r.offset)
	}
	return r, nil
}

// read returns the bytes of a constant, which are valid until close.
func (x *externals) read(t *onnxpb.TensorProto, size int64, what string) ([]byte, error) {
	r, err := parseRegion(t, size, what)
	if err != nil {
		return nil, err
	}
	if x.folder == "" {
		return nil, unsupported("%s keeps its data in the file %s, and no folder is given; read the model from a file", what, Quote(r.location))
	}
	m, err := x.open(r.location)
	if err != nil {
		return nil, malformed("%s keeps its data in the file %s: %w", what, Quote(r.location), err)
	}
	if n := int64(len(m.Bytes)); r.offset > n || r.length > n-r.offset {
		return nil, malformed("%s keeps %d bytes at byte %d of the file %s, which has %d", what, r.length, r.offset, Quote(r.location), n)
	}
	if x.taken[r.location] += r.length; x.taken[r.location] > mostTaken*int64(len(m.Bytes)) {
		return nil, unsupported("%s keeps its data in the file %s: constants take %d bytes of it, expected at most %d times its %d", what, Quote(r.location),
			x.taken[r.location], mostTaken, len(m.Bytes))
	}
	if r.checksum != "" {
		if got := x.checksum(r.location, m); got != r.checksum {
			return nil, malformed("%s keeps its data in the file %s, which has SHA-1 %s, expected %s", what, Quote(r.location), got, Quote(r.checksum))
		}
	}
	data := m.Bytes[r.offset : r.offset+r.length]
	if x.digest == nil {
		x.digest = sha256.New()
	}
	piece := sha256.Sum256(data)
	x.digest.Write(piece[:])
	return data, nil
}

// open maps a file, once.
func (x *externals) open(location string) (*mapped.File, error) {
	if x.root == nil {
		root, err := mapped.OpenFolder(x.folder)
		if err != nil {
			return nil, err
		}
		x.root, x.taken, x.sums = root, map[string]int64{}, map[string]string{}
	}
	return x.root.Open(location)
}

// checksum returns the SHA-1 of a file, which is computed once: many constants may give it.
func (x *externals) checksum(location string, m *mapped.File) string {
	got, ok := x.sums[location]
	if !ok {
		sum := sha1.Sum(m.Bytes)
		got = hex.EncodeToString(sum[:])
		x.sums[location] = got
	}
	return got
}

// identify returns what identifies the model: the digest of the file alone, or of it and of everything it took from other files.
func (x *externals) identify(file [32]byte) [32]byte {
	if x.digest == nil {
		return file
	}
	h := sha256.New()
	fmt.Fprintf(h, "zkwarp ONNX file with external data\n")
	h.Write(file[:])
	h.Write(x.digest.Sum(nil))
	return [32]byte(h.Sum(nil))
}

func (x *externals) close() error {
	if x.root == nil {
		return nil
	}
	return x.root.Close()
}
