// Package models carries small networks of several kinds with real data for them: trained by make.py of each folder, exported to ONNX by
// PyTorch's two exporters and quantised by onnxruntime in its two forms, with held-out examples, labels and the accuracy that onnxruntime
// reached on them. README.md lists them; data/README.md says where the data come from.
package models

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
)

// Embedded holds the first ONNX file of every network and all data. The other files, quantised ones and other exports, are beside it in
// the repository: os.DirFS of this folder has them all.
//
//go:embed data/*.npz data/*.json */model.json */model.onnx.gz
var Embedded embed.FS

// Network describes one trained network.
type Network struct {
	Name       string
	About      string  `json:"about"`
	Data       string  `json:"data"`       // the data set's name
	Shape      []int   `json:"shape"`      // of the input
	Tokens     bool    `json:"tokens"`     // inputs are token numbers
	Scale      float64 `json:"scale"`      // otherwise stored numbers times Scale
	Parameters int     `json:"parameters"` // weights and biases
	Files      []File  `json:"files"`

	files fs.FS
}

// File is one ONNX file of a network.
type File struct {
	File      string   `json:"file"` // compressed by gzip
	By        string   `json:"by"`   // "legacy" or "dynamo", PyTorch's exporters, or "onnxruntime", its static quantisation
	Opset     int      `json:"opset"`
	Operators []string `json:"operators"`
	Nodes     int      `json:"nodes"`
	// Accuracy is the share of right answers of onnxruntime on the stored held-out examples, AccuracyAll on the first 2500 of all.
	Accuracy    float64 `json:"accuracy"`
	AccuracyAll float64 `json:"accuracy_all"`
}

// Set is the stored part of a data set, as inputs of a network.
type Set struct {
	Inputs      [][]float64 // held-out examples
	Labels      [][]int     // of each: one class, or one for each position
	Calibration [][]float64 // training examples
}

// Names lists the networks in alphabetic order.
func Names(files fs.FS) ([]string, error) {
	found, err := fs.Glob(files, "*/model.json")
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = path.Dir(f)
	}
	slices.Sort(names)
	return names, nil
}

// Open reads a network's description.
func Open(files fs.FS, name string) (*Network, error) {
	text, err := fs.ReadFile(files, path.Join(name, "model.json"))
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	n := &Network{Name: name, files: files}
	if err := json.Unmarshal(text, n); err != nil {
		return nil, fmt.Errorf("models: %s: %w", name, err)
	}
	if len(n.Files) == 0 {
		return nil, fmt.Errorf("models: %s has no ONNX file", name)
	}
	return n, nil
}

// ONNX returns the content of an ONNX file.
func (n *Network) ONNX(file string) ([]byte, error) {
	packed, err := fs.ReadFile(n.files, path.Join(n.Name, file))
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("models: %s of %s: %w", file, n.Name, err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("models: %s of %s: %w", file, n.Name, err)
	}
	return data, nil
}

// Set reads the stored examples.
func (n *Network) Set() (*Set, error) {
	arrays, err := n.arrays(path.Join("data", n.Data+".npz"))
	if err != nil {
		return nil, err
	}
	scale := n.Scale
	if n.Tokens {
		scale = 1
	}
	inputs := func(a *array) [][]float64 {
		rows := a.rows()
		for _, row := range rows {
			for i := range row {
				row[i] *= scale
			}
		}
		return rows
	}
	s := &Set{Inputs: inputs(arrays["x"]), Calibration: inputs(arrays["calibration"])}
	for _, row := range arrays["y"].rows() {
		labels := make([]int, len(row))
		for i, v := range row {
			labels[i] = int(v)
		}
		s.Labels = append(s.Labels, labels)
	}
	if len(s.Labels) != len(s.Inputs) {
		return nil, fmt.Errorf("models: data set %s has %d examples and %d labels", n.Data, len(s.Inputs), len(s.Labels))
	}
	return s, nil
}

// Expected returns onnxruntime's outputs for the first held-out examples, one row an example, by the name of an ONNX file without its
// endings. Embedded does not have them.
func (n *Network) Expected() (map[string][][]float64, error) {
	arrays, err := n.arrays(path.Join(n.Name, "expected.npz"))
	if err != nil {
		return nil, err
	}
	out := map[string][][]float64{}
	for name, a := range arrays {
		out[name] = a.rows()
	}
	return out, nil
}

// Right counts right answers among the positions of one output: scores holds those of all classes for each label.
func Right(scores []float64, labels []int) int {
	classes, right := len(scores)/len(labels), 0
	for i, label := range labels {
		s := scores[i*classes : (i+1)*classes]
		if slices.Index(s, slices.Max(s)) == label {
			right++
		}
	}
	return right
}

// Bits returns how many bits the right answers take, summed over the positions of one output, if what scores say of the probabilities of all
// classes (their softmax) is what an answer is coded by. 2 to the power of its mean is the perplexity.
func Bits(scores []float64, labels []int) float64 {
	classes, bits := len(scores)/len(labels), 0.0
	for i, label := range labels {
		s := scores[i*classes : (i+1)*classes]
		top, sum := slices.Max(s), 0.0
		for _, v := range s {
			sum += math.Exp(v - top)
		}
		bits += (math.Log(sum) + top - s[label]) / math.Ln2
	}
	return bits
}

// arrays reads a file of numpy arrays.
func (n *Network) arrays(name string) (map[string]*array, error) {
	data, err := fs.ReadFile(n.files, name)
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("models: %s: %w", name, err)
	}
	out := map[string]*array{}
	for _, f := range r.File {
		a, err := readArray(f)
		if err != nil {
			return nil, fmt.Errorf("models: %s: %s: %w", name, f.Name, err)
		}
		out[f.Name[:len(f.Name)-len(path.Ext(f.Name))]] = a
	}
	return out, nil
}
