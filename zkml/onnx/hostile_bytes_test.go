package onnx_test

import (
	"errors"
	"testing"

	"github.com/zkwarp/zkwarp/internal/hostile"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// TestHostileBytes damages a model at every place. A field of a protobuf may be missing or there again, so that what is cut off can be a model.
func TestHostileBytes(t *testing.T) {
	hostile.Test(t, hostile.Decoder{Name: "model", Code: base().Bytes(), Loose: true, Decode: func(data []byte) ([]byte, error) {
		_, err := onnx.Parse(data, onnx.Options{})
		if err != nil && !errors.Is(err, onnx.ErrMalformed) && !errors.Is(err, onnx.ErrUnsupported) {
			t.Errorf("unclassified error %v", err)
		}
		return nil, err
	}})
}
