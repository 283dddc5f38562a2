package tensorio

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Input is one of the tensors that a model takes.
type Input struct {
	Name  string
	Shape []int
}

// InputsText lists inputs with their shapes, for messages.
func InputsText(inputs []Input) string {
	parts := make([]string, len(inputs))
	for i, in := range inputs {
		parts[i] = fmt.Sprintf("%s %s", Name(in.Name), ShapeText(in.Shape))
	}
	return strings.Join(parts, ", ")
}

// Name is a tensor's name as messages show it: quoted if it is long or has characters that would confuse.
func Name(name string) string {
	plain := name != "" && len(name) <= 60 && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`,="'`, r) })
	if plain {
		return name
	}
	return fmt.Sprintf("%.60q", name)
}

const zipMagic = "PK\x03\x04"

// ReadInputs decodes a file that holds samples of all of a model's inputs. Each sample is the elements of the inputs one after the other.
//
// JSON holds one sample, either {"input_data": [first, second, ...]} or {"name": first, "name": second, ...}. An .npz archive has an array
// for each input under its name; with one more axis in front, of the same length in all arrays, that axis counts samples. A model with one
// input takes .npy and PNG files as well, like Read; pictures that hold more than most inputs are refused before they are unpacked.
func ReadInputs(file []byte, inputs []Input, most int) ([][]float64, error) {
	switch format := Detect(file); {
	case format == NPZ:
		return readNPZ(file, inputs)
	case format == JSON:
		tensors, err := readObject(file, inputs)
		if err != nil {
			return nil, err
		}
		var sample []float64
		for _, t := range tensors {
			sample = append(sample, t.Data...)
		}
		return [][]float64{sample}, nil
	case len(inputs) == 1:
		return read(file, inputs[0].Shape, most)
	}
	return nil, fmt.Errorf("holds one array, but the model takes %d inputs (%s): give JSON or .npz with an entry for each, or a file for each",
		len(inputs), InputsText(inputs))
}

// ReadOneInputs is ReadInputs for files that must hold one sample.
func ReadOneInputs(file []byte, inputs []Input) ([]float64, error) {
	samples, err := ReadInputs(file, inputs, 1)
	if err != nil {
		return nil, err
	}
	if len(samples) != 1 {
		return nil, fmt.Errorf("holds %d inputs, want one", len(samples))
	}
	return samples[0], nil
}

// Join makes samples of all inputs from samples of each.
func Join(parts [][][]float64, inputs []Input) ([][]float64, error) {
	out := make([][]float64, len(parts[0]))
	for k, part := range parts {
		if len(part) != len(out) {
			return nil, fmt.Errorf("%d samples of input %s, but %d of input %s", len(part), Name(inputs[k].Name), len(out), Name(inputs[0].Name))
		}
		for i := range out {
			out[i] = append(out[i], part[i]...)
		}
	}
	return out, nil
}

// readNPZ decodes an archive of .npy files, as numpy.savez writes it.
func readNPZ(file []byte, inputs []Input) ([][]float64, error) {
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, fmt.Errorf("npz: %w", plainZip(err))
	}
	parts := make([][][]float64, len(inputs))
	for _, f := range archive.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		k := slices.IndexFunc(inputs, func(in Input) bool { return in.Name == name })
		switch {
		case k < 0:
			return nil, fmt.Errorf("npz: array %s is no input of the model, which takes %s", Name(name), InputsText(inputs))
		case parts[k] != nil:
			return nil, fmt.Errorf("npz: array %s occurs twice", Name(name))
		}
		data, err := member(f, len(file))
		if err != nil {
			return nil, fmt.Errorf("npz: array %s: %w", Name(name), err)
		}
		t, err := ReadNPY(data)
		if err == nil {
			parts[k], err = split(t, inputs[k].Shape)
		}
		if err != nil {
			return nil, fmt.Errorf("npz: array %s: %w", Name(name), err)
		}
	}
	for k, part := range parts {
		if part == nil {
			return nil, fmt.Errorf("npz: array %s is missing; the model takes %s", Name(inputs[k].Name), InputsText(inputs))
		}
	}
	return Join(parts, inputs)
}

// member unpacks one file of an archive. Deflate packs at most about 1032 to 1, so the archive's length bounds what can be in it.
func member(f *zip.File, archive int) ([]byte, error) {
	if f.UncompressedSize64 > 1040*uint64(archive) {
		return nil, fmt.Errorf("%d bytes in an archive of %d", f.UncompressedSize64, archive)
	}
	r, err := f.Open()
	if err != nil {
		return nil, plainZip(err)
	}
	defer r.Close()
	data := make([]byte, f.UncompressedSize64)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, plainZip(err)
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) { // the checksum is compared at the end
		return nil, fmt.Errorf("the archive is damaged")
	}
	return data, nil
}

func plainZip(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the archive ends early")
	}
	return err
}
