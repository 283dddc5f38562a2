package prover

import (
	"math"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/matrix"
)

// tiling is one of the kernels that multiply planes; lengths are in units of 32
// lines or steps.
type tiling struct {
	name          string // after matrix_gemm_ and matrix_bytes_
	rows, columns int    // of a block's tile
	threads       int
	memory        int // shared, in bytes
}

const (
	unit  = 32          // lines and steps of a unit
	bytes = unit * unit // of a unit
	piece = 2           // units along the inner dimension that are copied at once
)

var (
	wide = tiling{name: "wide", rows: 4, columns: 8, threads: 256, memory: (4 + 8) * piece * 4 * bytes}
	slim = tiling{name: "slim", rows: 2, columns: 4, threads: 128, memory: (2 + 4) * piece * 4 * bytes}
)

// byRows says whether to multiply row by row, each at the rate at which the right
// factor is read. Packing it takes as long as seven rows or so.
func byRows(s matrix.Shape) bool { return s.M == 1 || s.M < 8 && s.K*s.N >= 1<<16 }

// worthPacking says whether residues pay, of which five launches are the least cost.
func worthPacking(s matrix.Shape) bool {
	return s.M >= 8 && s.N >= 8 && s.K >= 64 && s.M*s.N >= 1<<22/s.K
}

// plan is how a product is cut so that its planes fit into memory.
type plan struct {
	tiling
	m, k, n int // rows, steps and columns of one pass
	system  matrix.System
	shared  bool // the right factor's entries are signed bytes: one plane for all moduli
	direct  bool // those of both are: no moduli
}

func up(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// units are what a pass is padded to.
func (p plan) units() (rows, columns, steps int) {
	return up(device.Blocks(p.m, unit), p.rows), up(device.Blocks(p.n, unit), p.columns), up(device.Blocks(p.k, unit), piece)
}

// planes are the bytes of the planes of the left factor, the right one and the
// result.
func (p plan) planes() (left, right, result int) {
	rows, columns, steps := p.units()
	t := len(p.system.Moduli)
	if p.direct {
		return rows * steps * bytes, columns * steps * bytes, 0
	}
	left, right, result = t*rows*steps*bytes, t*columns*steps*bytes, t*rows*columns*bytes
	if p.shared {
		right /= t
	}
	return left, right, result
}

func (p plan) bytes() int {
	left, right, result := p.planes()
	return left + right + result
}

// planFor cuts the product until its planes take at most limit bytes: the longer
// of the result's sides first, down to one tile, then the inner dimension. With
// less than that the smallest plan comes back. most is the shared memory that a
// block can have.
func planFor(s matrix.Shape, byteEntries bool, limit, most int) plan {
	p := plan{tiling: wide, m: s.M, k: min(s.K, matrix.MaxDepth), n: s.N}
	if s.M <= 96 || wide.memory > most {
		p.tiling = slim
	}
	p.shared = byteEntries || s.Bounds.Right > 0 && s.Bounds.Right <= 127
	for {
		b := s.Bounds
		if byteEntries && (b.Right == 0 || b.Right > 128) {
			b.Right = 128
		}
		if p.k < s.K {
			b.Sum = 0 // holds for the whole sum only
		}
		p.system, _ = matrix.SystemFor(p.k, b)
		p.direct = p.shared && b.Direct(p.k) // words up to 128 are not bytes
		switch tall, long := p.m > p.rows*unit, p.n > p.columns*unit; {
		case p.bytes() <= limit:
			return p
		case tall && (p.m >= p.n || !long):
			p.m = up(p.m/2, p.rows*unit)
		case long:
			p.n = up(p.n/2, p.columns*unit)
		case p.k > piece*unit:
			p.k = up(p.k/2, piece*unit)
		default:
			return p
		}
	}
}

// Memory is how many bytes of device memory Mul takes for a product of that shape
// besides its operands, where there is enough; with less, but for a few
// hundred KiB, it works in several passes.
func Memory[B matrix.Entry](s matrix.Shape) int64 {
	if byRows(s) || !worthPacking(s) {
		return 0
	}
	return int64(planFor(s, isBytes[B](), math.MaxInt, wide.memory).bytes())
}

func isBytes[B matrix.Entry]() bool {
	var z B
	_, ok := any(z).(int8)
	return ok
}

// available is what planes may take of q's device.
func available(q *device.Queue) (int, error) {
	limit, err := q.Device().Budget()
	if err != nil || limit == 0 {
		return math.MaxInt, err
	}
	return int(limit - q.Device().InUse()), nil
}

func byResidues[B matrix.Entry](q *device.Queue, c, a device.Buffer[m31.Element], b device.Buffer[B], s matrix.Shape) error {
	limit, err := available(q)
	if err != nil {
		return err
	}
	return inPasses(q, c, a, b, s, planFor(s, isBytes[B](), limit, sharedPerBlock(q)))
}

// sharedPerBlock is what a block can have, all that it wants where there is no card.
func sharedPerBlock(q *device.Queue) int {
	if n := q.Device().Info().SharedPerBlock; n > 0 {
		return n
	}
	return math.MaxInt
}

// inPasses multiplies part by part as planned.
func inPasses[B matrix.Entry](q *device.Queue, c, a device.Buffer[m31.Element], b device.Buffer[B], s matrix.Shape, p plan) error {
	left, right, result := p.planes()
	constants, err := device.Upload(q, p.system.Moduli)
	if err != nil {
		return err
	}
	defer constants.Free()
	if err := q.Device().CheckMemory(int64(left + right + result)); err != nil {
		return err
	}
	all, err := device.Alloc[byte](q, left+right+result)
	if err != nil {
		return err
	}
	defer all.Free()
	w := pass[B]{q: q, plan: p, shape: s, constants: constants, c: c, a: a, b: b,
		left: all.Slice(0, left), right: all.Slice(left, left+right), result: all.Slice(left+right, left+right+result)}
	for w.step = 0; w.step < s.K; w.step += p.k {
		for w.column = 0; w.column < s.N; w.column += p.n {
			if err := w.packRight(); err != nil {
				return err
			}
			for w.row = 0; w.row < s.M; w.row += p.m {
				if err := w.multiply(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pass is one part of a product, from row, column and step on.
type pass[B matrix.Entry] struct {
	plan
	q                   *device.Queue
	shape               matrix.Shape
	constants           device.Buffer[matrix.Modulus]
	c, a                device.Buffer[m31.Element]
	b                   device.Buffer[B]
	left, right, result device.Buffer[byte]
	row, column, step   int
}

// now is the plan less what is beyond the product's ends.
func (w *pass[B]) now() plan {
	p := w.plan
	p.m, p.k, p.n = min(p.m, w.shape.M-w.row), min(p.k, w.shape.K-w.step), min(p.n, w.shape.N-w.column)
	return p
}

const warps = threads / 32

// pack packs a factor of lines by steps, whose rows are n entries long.
func (w *pass[B]) pack(k device.Kernel, to, from device.Arg, planes, lines, depth, n, units, deep int, flags ...device.Arg) error {
	args := []device.Arg{to, from, w.constants.Arg(), device.U32(planes), device.U32(lines), device.U32(depth), device.U32(n), device.U32(units), device.U32(deep)}
	return w.q.Launch(k, device.D1(device.Blocks(units*deep, warps)), device.D1(threads), 0, append(args, flags...)...)
}

func (w *pass[B]) packRight() error {
	p, s := w.now(), w.shape
	_, columns, steps := p.units()
	planes := len(p.system.Moduli)
	if p.shared {
		planes = 1
	}
	if s.Transposed {
		from := w.b.Slice(w.column*s.K+w.step, w.b.Len())
		return w.pack(typed[B](ResidueSource, "matrix_pack_lines"), w.right.Arg(), from.Arg(), planes, p.n, p.k, s.K, columns, steps, truth(true), truth(p.shared))
	}
	from := w.b.Slice(w.step*s.N+w.column, w.b.Len())
	return w.pack(typed[B](ResidueSource, "matrix_pack_steps"), w.right.Arg(), from.Arg(), planes, p.n, p.k, s.N, columns, steps, truth(p.shared))
}

func (w *pass[B]) multiply() error {
	p, s := w.now(), w.shape
	rows, columns, steps := p.units()
	planes := len(p.system.Moduli)
	if p.direct {
		planes = 1
	}
	from := w.a.Slice(w.row*s.K+w.step, w.a.Len())
	err := w.pack(residueKernel("matrix_pack_lines"), w.left.Arg(), from.Arg(), planes, p.m, p.k, s.K, rows, steps, truth(false), truth(p.direct))
	if err != nil {
		return err
	}
	to, add := w.c.Slice(w.row*s.N+w.column, w.c.Len()), truth(w.step > 0)
	tiles := rows / p.rows * (columns / p.columns)
	if p.direct {
		return w.q.Launch(residueKernel("matrix_bytes_"+p.name), device.D1(tiles), device.D1(p.threads), p.memory,
			to.Arg(), w.left.Arg(), w.right.Arg(), device.U32(rows), device.U32(columns), device.U32(steps),
			device.U32(p.m), device.U32(p.n), device.U32(s.N), add)
	}
	err = w.q.Launch(residueKernel("matrix_gemm_"+p.name), device.D2(tiles, planes), device.D1(p.threads), p.memory,
		w.result.Arg(), w.left.Arg(), w.right.Arg(), w.constants.Arg(), device.U32(rows), device.U32(columns), device.U32(steps), truth(p.shared))
	if err != nil {
		return err
	}
	return w.q.Launch(residueKernel("matrix_recover"), device.D1(device.Blocks(rows*columns*64, threads)), device.D1(threads), 0,
		to.Arg(), w.result.Arg(), w.constants.Arg(), device.U32(planes), device.U32(int(p.system.Product)),
		device.U32(p.m), device.U32(p.n), device.U32(s.N), device.U32(rows), device.U32(columns), add)
}

func residueKernel(name string) device.Kernel {
	return device.Kernel{Source: ResidueSource, Name: name}
}
