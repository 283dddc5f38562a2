package llm

import (
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/internal/hostile"
)

// TestHostileFiles damages the header of a safetensors file and config.json at every place. A deep one costs time that is linear in its length.
func TestHostileFiles(t *testing.T) {
	file := pack(`{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[],"data_offsets":[8,10]}}`, make([]byte, 10))
	hostile.Test(t, hostile.Decoder{Name: "safetensors", Code: file, Decode: func(data []byte) ([]byte, error) {
		entries, err := parseHeader("f", data)
		for name, e := range entries {
			if e.begin < 8 || e.end > len(data) || e.begin > e.end {
				t.Errorf("tensor %q at [%d, %d) of %d bytes", name, e.begin, e.end, len(data))
			}
		}
		return nil, err
	}})
	hostile.Test(t, hostile.Decoder{Name: "config.json", Code: []byte(strings.TrimSpace(string(read(t, "llama", "config.json")))), Decode: func(data []byte) ([]byte, error) {
		_, err := ParseConfig(data)
		return nil, err
	}})
	for _, open := range []string{"[", `{"a":`, `{"a":[`, `{"rope_scaling":`} {
		deep := strings.Repeat(open, 1<<16)
		if _, err := parseHeader("f", pack(deep, nil)); err == nil {
			t.Errorf("%s, deep: a header", open)
		}
		if _, err := ParseConfig([]byte(deep)); err == nil {
			t.Errorf("%s, deep: a configuration", open)
		}
	}
}
