package hostile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// decode reads a list: its length and so many bytes.
func decode(data []byte) (list []byte, err error) {
	if len(data) < 4 {
		return nil, errors.New("short")
	}
	n := binary.LittleEndian.Uint32(data)
	if int64(n) != int64(len(data)-4) {
		return nil, errors.New("length")
	}
	return data[4:], nil
}

func encode(list []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(list))), list...)
}

// TestDecoders passes a strict decoder, and no careless one.
func TestDecoders(t *testing.T) {
	seen := map[string]bool{}
	code := encode([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	Test(t, Decoder{Name: "list", Code: code, Decode: func(data []byte) ([]byte, error) {
		seen[string(data)] = true
		list, err := decode(data)
		if err != nil {
			return nil, err
		}
		return encode(list), nil
	}})
	for _, want := range [][]byte{{9, 0, 0}, {9, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0}, {0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0x89, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		if !seen[string(want)] {
			t.Errorf("%v was not tried", want)
		}
	}
	for want, careless := range map[string]func(data []byte) ([]byte, error){
		"not valid":    func([]byte) ([]byte, error) { return nil, errors.New("no") },
		"behind its":   func(data []byte) ([]byte, error) { _, err := decode(data[:min(len(data), len(code))]); return nil, err },
		"out of range": func(data []byte) ([]byte, error) { return nil, errors.New(string(data[12:13])[:0]) },
		"of memory": func(data []byte) ([]byte, error) {
			if len(data) >= 4 {
				sink = make([]byte, min(binary.LittleEndian.Uint32(data), 1<<21))
			}
			_, err := decode(data)
			return nil, err
		},
		"something else": func(data []byte) ([]byte, error) {
			if len(data) < 5 {
				return nil, errors.New("short")
			}
			return append([]byte{9}, data[1:]...), nil
		},
	} {
		found := false
		run(Decoder{Code: code, Decode: func(data []byte) ([]byte, error) {
			if want == "out of range" && bytes.Equal(data, code) {
				return code, nil
			}
			return careless(data)
		}}, func(format string, args ...any) {
			found = found || strings.Contains(fmt.Sprintf(format, args...), want)
		})
		if !found {
			t.Errorf("nothing is found %q", want)
		}
	}
}

// sink keeps memory from being left out.
var sink []byte

func TestPlaces(t *testing.T) {
	if got := places(5, 10); !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("all of 5 places are %v", got)
	}
	got := places(1000, 10)
	if len(got) > 11 || got[0] != 0 || got[4] != 4 || got[len(got)-1] != 999 || !slices.IsSorted(got) {
		t.Errorf("10 of 1000 places are %v", got)
	}
}
