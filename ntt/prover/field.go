// Package prover transforms columns where they lie, on the device, with the results of
// package ntt.
package prover

import (
	_ "embed"
	"fmt"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/ntt"
)

// Field is one of the fields that there are transforms over.
type Field int

// The fields. Elements of their extensions are transformed coordinate by coordinate.
const (
	BabyBear  Field = iota // babybear.Element, E4, E5
	KoalaBear              // koalabear.Element, E4, E5
	CM31                   // m31.CM31, and QM31 as two of them
)

func (f Field) known() bool { return f >= 0 && int(f) < len(specs) }

func (f Field) String() string {
	if !f.known() {
		return fmt.Sprintf("field %d", int(f))
	}
	return f.spec().name
}

// MaxLog is the largest n of a transform of 2^n elements, or -1 if f is no field.
func (f Field) MaxLog() int {
	if !f.known() {
		return -1
	}
	return f.spec().maxLog
}

// spec is what there is to know about a field. A unit is an element of the field
// itself, the kernels' `unit`.
type spec struct {
	name      string
	prime     uint32
	unitBytes int
	logValues int // log2 of the units that a thread holds
	maxLog    int
	logLow    int // the kernels' LOG_LOW
	// columnsUpper says whether columns passes may have three windows.
	columnsUpper bool
	maxThreads   int // of a block
	tune         tuning
	// plain is the kernels for elements of 2^k units, five those for five units; the
	// latter is nil where there are no such elements.
	plain, five *kernel.Source
	tables      func() []uint32 // what the kernels' `tables` points to
	// host transforms columns of elements of `width` units on the host.
	host func(memory unsafe.Pointer, units, width, n, live int) error
}

var specs = [...]*spec{
	BabyBear:  bear("babybear", babybear.P, ntt.BabyBear{}, 5),
	KoalaBear: bear("koalabear", koalabear.P, ntt.KoalaBear{}, 5),
	CM31:      cm31("cm31", 4),
}

func (f Field) spec() *spec { return specs[f] }

// Sources is the kernels' translation units.
func Sources() []*kernel.Source {
	var out []*kernel.Source
	for _, s := range specs {
		out = append(out, s.plain)
		if s.five != nil {
			out = append(out, s.five)
		}
	}
	return out
}

// width is the number of units in a T, of which columns over f may consist.
func width[T any](f Field) (int, error) {
	var z T
	var of Field
	w := 1
	switch any(z).(type) {
	case babybear.Element:
		of = BabyBear
	case babybear.E4:
		of, w = BabyBear, 4
	case babybear.E5:
		of, w = BabyBear, 5
	case koalabear.Element:
		of = KoalaBear
	case koalabear.E4:
		of, w = KoalaBear, 4
	case koalabear.E5:
		of, w = KoalaBear, 5
	case m31.CM31:
		of = CM31
	case m31.QM31:
		of, w = CM31, 2
	default:
		return 0, fmt.Errorf("ntt: no transforms of %T", z)
	}
	if f != of {
		return 0, fmt.Errorf("ntt: %T over %v, want %v", z, f, of)
	}
	return w, nil
}

//go:embed ntt.cu
var passText string

//go:embed bear.cuh
var bearText string

//go:embed cm31.cuh
var cm31Text string

var (
	template   = kernel.Template{Name: "ntt/prover/ntt.cu", Text: passText}
	bearHeader = kernel.Template{Name: "ntt/prover/bear.cuh", Text: bearText}
	cm31Header = kernel.Template{Name: "ntt/prover/cm31.cuh", Text: cm31Text}
)

// unit is the kernels for blocks of that many threads at most.
func unit(variant string, five, threads int, header *kernel.Source) *kernel.Source {
	return template.Unit(variant, []string{"FIELD_HEADER", header.Name, "NTT_FIVE", fmt.Sprint(five), "NTT_THREADS", fmt.Sprint(threads)}, header)
}

// word is a constant in CUDA.
func word[T ~uint32](v T) string { return fmt.Sprintf("%du", uint32(v)) }

// onHost is t for columns given by their address.
func onHost[T any](t ntt.Transform[T]) func(memory unsafe.Pointer, units, width, n, live int) error {
	return func(memory unsafe.Pointer, units, width, n, live int) error {
		return t.ForwardWide(unsafe.Slice((*T)(memory), units), width, n, live)
	}
}

// bear is a prime field whose kernels have 2^logValues words a thread.
func bear[T field.Base[T]](name string, p uint32, t ntt.Transform[T], logValues int) *spec {
	inverse := p // 1/p modulo 2^32, by Newton's iteration
	for range 4 {
		inverse *= 2 - p*inverse
	}
	header := bearHeader.Unit(name, []string{
		"NTT_PRIME", word(p), "NTT_INVERSE", word(inverse), "NTT_ADICITY", word(uint32(t.MaxLog())), "NTT_ROOT", word(t.Root(logValues).Uint32()),
		"NTT_VALUES", word(uint32(logValues)), "NTT_TABLE_ROW", word(uint32(tableRow(logValues))),
	}, kernel.PTX)
	return &spec{
		name: name, prime: p, unitBytes: 4, logValues: logValues, maxLog: t.MaxLog(), logLow: 14,
		maxThreads: 1024,
		plain:      unit(name, 0, 1024, header), five: unit(name+"_five", 1, 1024, header),
		// Two blocks on a multiprocessor, as many as its registers hold.
		tune:   tuning{threads: 512, fill: 264, sector: 32},
		tables: func() []uint32 { return words(tables(t, logValues, 14, func([]T) {})) },
		host:   onHost(t),
	}
}

// cm31 is CM31, with 2^logValues pairs of words a thread.
func cm31(name string, logValues int) *spec {
	t := ntt.CM31{}
	w := t.Root(logValues)
	header := cm31Header.Unit(name, []string{
		"NTT_ROOT_RE", word(w.Re), "NTT_ROOT_IM", word(w.Im), "NTT_VALUES", word(uint32(logValues)), "NTT_TABLE_ROW", word(uint32(tableRow(logValues))),
	}, m31.Header)
	return &spec{
		name: name, prime: m31.P, unitBytes: 8, logValues: logValues, maxLog: t.MaxLog(), logLow: 15,
		columnsUpper: true,
		maxThreads:   1 << (14 - logValues),
		plain:        unit(name, 0, 1<<(14-logValues), header),
		tune:         tuning{threads: 1 << (13 - logValues), fill: 264, sector: 32},
		tables:       func() []uint32 { return words(tables[m31.CM31](t, logValues, 15, double)) },
		host:         onHost[m31.CM31](t),
	}
}

// kernels is the unit for elements of that many units.
func (s *spec) kernels(width int) (*kernel.Source, string) {
	if width == 5 {
		return s.five, s.name + "_five"
	}
	return s.plain, s.name
}

// double is what unit_factor of cm31.cuh does: words twice as large, below 2^32.
func double(v []m31.CM31) {
	for i, w := range v {
		v[i] = m31.CM31{Re: 2 * w.Re, Im: 2 * w.Im}
	}
}
