package keyfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/groth16"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

// affine is what points can do.
type affine[P any] interface {
	*P
	IsInSubGroup() bool
}

// pair is the two bases of a commitment.
type pair[P any] struct{ basis, sigma []P }

// system is gnark's arithmetic and files over one curve.
type system struct {
	id     ecc.ID
	sizes  sizes
	decode func(r io.Reader, check bool, to ...any) error
	encode func(w io.Writer, from ...any) error
}

// key is a proving key of gnark's, by its parts.
type key[P, Q any] struct {
	*system
	key    groth16.ProvingKey
	domain interface {
		io.ReaderFrom
		io.WriterTo
	}
	alpha, beta, delta   *P
	a, b, z, k           *[]P
	beta2, delta2        *Q
	b2                   *[]Q
	nA, nB               *uint64
	infinityA, infinityB *[]bool
	commitments          func() []pair[P]
	setCommitments       func([]pair[P])
}

// overCurve is what there is for keys over a curve.
type overCurve struct {
	system *system
	read   func(context.Context, []byte, Options) (*File, error)
	write  func(groth16.ProvingKey) func(io.Writer) error
}

// curves are those with keys.
func curves() []overCurve {
	return []overCurve{
		{systemBN254, readBN254, writeBN254},
		{systemBLS12377, readBLS12377, writeBLS12377},
		{systemBLS12381, readBLS12381, writeBLS12381},
		{systemBW6761, readBW6761, writeBW6761},
	}
}

func curveOf(id ecc.ID) (overCurve, error) {
	for _, c := range curves() {
		if c.system.id == id {
			return c, nil
		}
	}
	return overCurve{}, fmt.Errorf("%w: keys over %s", errors.ErrUnsupported, id)
}

// writer is Write for a key.
func writer(pk groth16.ProvingKey) (func(io.Writer) error, error) {
	for _, c := range curves() {
		if write := c.write(pk); write != nil {
			return write, nil
		}
	}
	return nil, fmt.Errorf("%w: a proving key of type %T", errors.ErrUnsupported, pk)
}

// read fills the key.
func read[PP affine[P], QQ affine[Q], P, Q any](ctx context.Context, k *key[P, Q], all []byte, o Options) (*File, error) {
	l, err := scan(all, k.sizes)
	if err != nil {
		return nil, err
	}
	domain := bytes.Clone(l.domain)
	if last := len(domain) - 1; !o.Tables {
		domain[last] = 0
	}
	if _, err := k.domain.ReadFrom(bytes.NewReader(domain)); err != nil {
		return nil, fmt.Errorf("%w: the domain is not one over %s: %w", ErrFormat, k.id, err)
	}
	if err := k.decodeAll(bytes.NewReader(l.first), !o.Trusted, k.alpha, k.beta, k.delta); err != nil {
		return nil, fmt.Errorf("%w: α, β, δ: %w", ErrFormat, err)
	}
	if err := k.decodeAll(bytes.NewReader(l.second), !o.Trusted, k.beta2, k.delta2); err != nil {
		return nil, fmt.Errorf("%w: β, δ in G2: %w", ErrFormat, err)
	}
	*k.nA, *k.nB = l.nA, l.nB
	*k.infinityA, *k.infinityB = flags(l.infA), flags(l.infB)
	r := &loader{ctx: ctx, system: k.system, format: l.format, check: !o.Trusted, modulus: words(k.id.BaseField(), k.sizes.coordinate())}
	r.meter.tell = o.Progress
	for _, x := range l.lists {
		r.meter.total += int64(len(x.b))
	}
	f := &File{Key: k.key, Format: l.format}
	for i, to := range []*[]P{k.a, k.b, k.z, k.k} {
		if err := load[PP](r, l.lists[i], to); err != nil {
			return nil, err
		}
	}
	if err := load[QQ](r, l.lists[4], k.b2); err != nil {
		return nil, err
	}
	pairs := make([]pair[P], l.commitments)
	for i := range pairs {
		if err := load[PP](r, l.lists[5+2*i], &pairs[i].basis); err != nil {
			return nil, err
		}
		if err := load[PP](r, l.lists[6+2*i], &pairs[i].sigma); err != nil {
			return nil, err
		}
	}
	k.setCommitments(pairs)
	f.InFile = r.inFile
	return f, nil
}

// coordinate is the bytes of an element of the base field: half a point of G1.
func (s sizes) coordinate() int { return s.g1 / 2 }

// loader reads lists of points.
type loader struct {
	*system
	ctx     context.Context
	format  Format
	check   bool
	modulus []uint64
	inFile  bool // some list is in the mapping
	meter   meter
}

// grain is how many points are read at a time: enough that starting costs nothing, and few
// enough that the end comes soon when the context ends.
const grain = 4096

// load reads a list.
func load[A affine[P], P any](r *loader, l list, to *[]P) error {
	if l.count == 0 {
		*to = []P{}
		return r.ctx.Err()
	}
	size := len(l.b) / l.count
	inMemory := r.format == Dump || r.format == Mapped
	// Dumps have points at odd places, behind a domain of 8 + 5·8·k + 1 bytes.
	begin := unsafe.Pointer(unsafe.SliceData(l.b))
	mapped := r.format == Mapped && uintptr(begin)%unsafe.Alignof(uint64(0)) == 0
	if mapped {
		*to = unsafe.Slice((*P)(begin), l.count)
		r.inFile = true
	} else {
		*to = make([]P, l.count)
	}
	if mapped && !r.check {
		r.meter.add(len(l.b))
		return r.ctx.Err()
	}
	var once sync.Once
	var failed error
	fail := func(err error) { once.Do(func() { failed = err }) }
	parallel.For((l.count+grain-1)/grain, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if err := r.ctx.Err(); err != nil {
				fail(err)
				return
			}
			first, end := i*grain, min((i+1)*grain, l.count)
			from, points := l.b[first*size:end*size], (*to)[first:end]
			var err error
			switch {
			case !inMemory:
				count := binary.BigEndian.AppendUint32(nil, uint32(len(points)))
				// As there are points already, gnark's decoder fills those.
				if err = r.decodeAll(io.MultiReader(bytes.NewReader(count), bytes.NewReader(from)), r.check, &points); err != nil {
					err = fmt.Errorf("%w: %s: points %d to %d: %w", ErrFormat, l.name, first, end-1, err)
				}
			case r.check && !canonical(from, r.modulus):
				err = fmt.Errorf("%w: %s: a coordinate not below the modulus, among points %d to %d", ErrFormat, l.name, first, end-1)
			case !mapped:
				copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(points))), len(from)), from)
			}
			if err == nil && r.check && inMemory {
				for j := range points {
					if !A(&points[j]).IsInSubGroup() {
						err = fmt.Errorf("%w: %s: point %d is not in its group", ErrFormat, l.name, first+j)
						break
					}
				}
			}
			if err != nil {
				fail(err)
				return
			}
			r.meter.add(len(from))
		}
	})
	return failed
}

// decodeAll reads things that gnark encoded, which must use up all bytes. It needs no more
// memory than they do.
func (s *system) decodeAll(from io.Reader, check bool, to ...any) error {
	if err := s.decode(from, check, to...); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	if n, err := io.Copy(io.Discard, from); err != nil || n > 0 {
		return errors.Join(err, errors.New("some points are compressed and some are not"))
	}
	return nil
}

// write writes the key in the format Mapped.
func write[P, Q any](w io.Writer, k *key[P, Q]) error {
	b := bufio.NewWriterSize(w, 1<<20)
	c := &counter{w: b}
	if _, err := c.Write([]byte(mappedMarker)); err != nil {
		return err
	}
	if _, err := k.domain.WriteTo(c); err != nil {
		return err
	}
	if len(*k.infinityA) != len(*k.infinityB) {
		return fmt.Errorf("InfinityA is for %d wires and InfinityB for %d", len(*k.infinityA), len(*k.infinityB))
	}
	pairs := k.commitments()
	if err := k.encode(c, k.alpha, k.beta, k.delta, k.beta2, k.delta2, uint64(len(*k.infinityA)), *k.nA, *k.nB,
		*k.infinityA, *k.infinityB, uint32(len(pairs))); err != nil {
		return err
	}
	for _, list := range [][]P{*k.a, *k.b, *k.z, *k.k} {
		if err := writeList(c, list); err != nil {
			return err
		}
	}
	if err := writeList(c, *k.b2); err != nil {
		return err
	}
	for _, x := range pairs {
		if err := errors.Join(writeList(c, x.basis), writeList(c, x.sigma)); err != nil {
			return err
		}
	}
	return b.Flush()
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func writeList[P any](c *counter, points []P) error {
	if _, err := c.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(points)))); err != nil || len(points) == 0 {
		return err
	}
	if _, err := c.Write(make([]byte, -c.n&(Align-1))); err != nil {
		return err
	}
	_, err := c.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(points))), len(points)*int(unsafe.Sizeof(points[0]))))
	return err
}
