package prover

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/matrix"
)

var (
	//go:embed matrix.cu
	plainText string
	//go:embed residues.cu
	residueText string
	//go:embed entries.cuh
	entriesText string
	//go:embed plain.cuh
	plainHeaderText string
	//go:embed vector.cuh
	vectorText string
	//go:embed residues.cuh
	residuesHeaderText string
)

var (
	entries       = &kernel.Source{Name: "matrix/prover/entries.cuh", Text: entriesText, Headers: []*kernel.Source{kernel.PTX, m31.Header}}
	plainHeader   = &kernel.Source{Name: "matrix/prover/plain.cuh", Text: plainHeaderText, Headers: []*kernel.Source{kernel.PTX, m31.Header, entries}}
	vectorHeader  = &kernel.Source{Name: "matrix/prover/vector.cuh", Text: vectorText, Headers: []*kernel.Source{kernel.PTX, m31.Header, entries, plainHeader}}
	residueHeader = &kernel.Source{Name: "matrix/prover/residues.cuh", Text: residuesHeaderText, Headers: []*kernel.Source{kernel.PTX, entries}}

	// Source is the kernels that work on entries as they are.
	Source = &kernel.Source{Name: "matrix/prover/matrix.cu", Text: plainText,
		Headers: []*kernel.Source{kernel.PTX, m31.Header, entries, plainHeader, vectorHeader}}
	// ResidueSource is the kernels that multiply by way of residues.
	ResidueSource = &kernel.Source{Name: "matrix/prover/residues.cu", Text: residueText,
		Headers: []*kernel.Source{kernel.PTX, m31.Header, entries, residueHeader}}
)

const (
	threads    = 256
	eachBlocks = 132 * 16 // fill any present card
	plainRows  = 128      // of a block's tile
	plainCols  = 64
)

// named is one of Source's.
func named(name string) device.Kernel { return device.Kernel{Source: Source, Name: name} }

// typed is the kernel of that name for right factors of B.
func typed[B matrix.Entry](source *kernel.Source, name string) device.Kernel {
	var z B
	if _, ok := any(z).(int8); ok {
		name += "_i8"
	}
	return device.Kernel{Source: source, Name: name}
}

func truth(b bool) device.Arg {
	if b {
		return device.U32(1)
	}
	return device.U32(0)
}

func launchPlain[B matrix.Entry](q *device.Queue, c, a device.Buffer[m31.Element], b device.Buffer[B], s matrix.Shape) error {
	// A grid has 65535 rows of blocks at most.
	const most = 65535 * plainRows
	for from := 0; from < s.M; from += most {
		m := min(most, s.M-from)
		err := q.Launch(typed[B](Source, "matrix_gemm"), device.D2(device.Blocks(s.N, plainCols), device.Blocks(m, plainRows)), device.D1(2*plainCols), 0,
			c.Slice(from*s.N, (from+m)*s.N).Arg(), a.Slice(from*s.K, (from+m)*s.K).Arg(), b.Arg(),
			device.U32(m), device.U32(s.K), device.U32(s.N), truth(s.Transposed))
		if err != nil {
			return err
		}
	}
	return nil
}

// launchRow multiplies one row by a matrix of shape s.
func launchRow[B matrix.Entry](q *device.Queue, c, a device.Buffer[m31.Element], b device.Buffer[B], s matrix.Shape) error {
	units := max(1, q.Device().Info().Units)
	entries, each, waves := 4, 1, 4 // of a thread's vector; of a team; blocks that a unit has room for
	if isBytes[B]() {
		entries, each, waves = 16, 4, 3
	}
	if s.Transposed {
		// A warp is a team, or a block where warps would leave units idle.
		team := 32
		if s.N < 32*each*units && s.K >= 4*threads {
			team = threads
		}
		return q.Launch(typed[B](Source, "matrix_row_transposed"), device.D1(device.Blocks(device.Blocks(s.N, each)*team, threads)), device.D1(threads), 0,
			c.Arg(), a.Arg(), b.Arg(), device.U32(s.K), device.U32(s.N), device.U32(team))
	}
	// Rows are split among blocks until units have no more room, but for 64 rows at
	// least, and for 2^24 at most, which a sum holds. A narrow matrix gets narrow blocks.
	block := min(threads, up(device.Blocks(s.N, entries), 32))
	across := device.Blocks(s.N, entries*block)
	splits := max(1, min(waves*units*(threads/block)/across, s.K/64), (s.K+1<<24-1)>>24)
	parts := c
	if splits > 1 {
		var err error
		if parts, err = device.Alloc[m31.Element](q, splits*s.N); err != nil {
			return err
		}
		defer parts.Free()
	}
	err := q.Launch(typed[B](Source, "matrix_row"), device.D2(across, splits), device.D1(block), 0,
		parts.Arg(), a.Arg(), b.Arg(), device.U32(s.K), device.U32(s.N))
	if err != nil || splits == 1 {
		return err
	}
	return q.Launch(named("matrix_sum"), device.D1(device.Blocks(s.N, 32)), device.D1(threads), 0,
		c.Arg(), parts.Arg(), device.U32(splits), device.U32(s.N))
}
