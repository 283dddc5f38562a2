package keyfile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/groth16"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/msm"
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
	domain func([]byte) error // whether it is one over the curve
	decode func(r io.Reader, check bool, to ...any) error
	encode func(w io.Writer, from ...any) error
}

// key is a proving key of gnark's, by its parts.
type key[P, Q any] struct {
	*system
	key groth16.ProvingKey
	own interface { // its domain
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

	// checks of points on a device
	check1 func(*device.Device, []P) error
	check2 func(*device.Device, []Q) error
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
	l, err := k.scan(all)
	if err != nil {
		return nil, err
	}
	domain := l.domain
	if !o.Tables {
		domain = withoutTables(domain)
	}
	if _, err := k.own.ReadFrom(bytes.NewReader(domain)); err != nil {
		return nil, fmt.Errorf("%w: the domain: %w", ErrFormat, err)
	}
	if err := k.decodeAll(bytes.NewReader(l.first), !o.Trusted, k.alpha, k.beta, k.delta); err != nil {
		return nil, fmt.Errorf("%w: α, β, δ: %w", ErrFormat, err)
	}
	if err := k.decodeAll(bytes.NewReader(l.second), !o.Trusted, k.beta2, k.delta2); err != nil {
		return nil, fmt.Errorf("%w: β, δ in G2: %w", ErrFormat, err)
	}
	*k.nA, *k.nB = l.nA, l.nB
	*k.infinityA, *k.infinityB = flags(l.infA), flags(l.infB)
	r := &loader{ctx: ctx, system: k.system, format: l.format, check: !o.Trusted, device: o.Device, least: cmp.Or(o.least, leastOnDevice), modulus: words(k.id.BaseField(), k.sizes.coordinate())}
	r.meter.tell = o.Progress
	for _, x := range l.lists {
		r.meter.total += int64(len(x.b))
	}
	if r.check && r.apart() {
		r.meter.total *= 2
	}
	f := &File{Key: k.key, Format: l.format}
	for i, to := range []*[]P{k.a, k.b, k.z, k.k} {
		if err := load[PP](r, l.lists[i], to, k.check1); err != nil {
			return nil, err
		}
	}
	if err := load[QQ](r, l.lists[4], k.b2, k.check2); err != nil {
		return nil, err
	}
	pairs := make([]pair[P], l.commitments)
	for i := range pairs {
		if err := load[PP](r, l.lists[5+2*i], &pairs[i].basis, k.check1); err != nil {
			return nil, err
		}
		if err := load[PP](r, l.lists[6+2*i], &pairs[i].sigma, k.check1); err != nil {
			return nil, err
		}
	}
	k.setCommitments(pairs)
	f.InFile = r.inFile
	return f, nil
}

// withoutTables is a domain, as files have it, for which no tables are made.
func withoutTables(domain []byte) []byte {
	out := bytes.Clone(domain)
	out[len(out)-1] = 0
	return out
}

// coordinate is the bytes of an element of the base field: half a point of G1.
func (s sizes) coordinate() int { return s.g1 / 2 }

// loader reads lists of points.
type loader struct {
	*system
	ctx     context.Context
	format  Format
	check   bool
	device  *device.Device // nil: the CPU checks
	least   int            // points that the device checks
	modulus []uint64
	inFile  bool // some list is in the mapping
	meter   meter
}

// grain is how many points are read at a time: enough that starting costs nothing, and few
// enough that the end comes soon when the context ends.
const grain = 4096

// load reads a list. One that gnark's decoder reads it also checks, unless a device does.
func load[A affine[P], P any](r *loader, l list, to *[]P, onDevice func(*device.Device, []P) error) error {
	if l.count == 0 {
		*to = []P{}
		return r.ctx.Err()
	}
	size := len(l.b) / l.count
	inMemory := r.format == Dump || r.format == Mapped
	// Dumps have points at odd places, behind a domain of 8 + 5·8·k + 1 bytes.
	begin := unsafe.Pointer(unsafe.SliceData(l.b))
	if r.format == Mapped && uintptr(begin)%unsafe.Alignof(uint64(0)) == 0 {
		*to = unsafe.Slice((*P)(begin), l.count)
		r.inFile = true
		r.meter.add(len(l.b))
	} else {
		*to = make([]P, l.count)
		err := r.parts(l, func(first, end int, from []byte) error {
			points := (*to)[first:end]
			if inMemory {
				copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(points))), len(from)), from)
				return nil
			}
			count := binary.BigEndian.AppendUint32(nil, uint32(len(points)))
			// As there are points already, gnark's decoder fills those.
			if err := r.decodeAll(io.MultiReader(bytes.NewReader(count), bytes.NewReader(from)), r.check && !r.apart(), &points); err != nil {
				return fmt.Errorf("%w: %s: points %d to %d: %w", ErrFormat, l.name, first, end-1, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !r.check || !r.apart() {
		return r.ctx.Err()
	}
	if r.device != nil && l.count >= r.least {
		for first := 0; first < l.count; first += mostOnDevice {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			end := min(first+mostOnDevice, l.count)
			err := onDevice(r.device, (*to)[first:end])
			if errors.Is(err, msm.ErrInput) {
				return fmt.Errorf("%w: %s, from point %d on: %w", ErrFormat, l.name, first, err)
			}
			if err != nil { // the CPU can do what the device could not
				return r.checkList(l, first, func(i int) bool { return A(&(*to)[i]).IsInSubGroup() })
			}
			r.meter.add((end - first) * size)
		}
		return nil
	}
	return r.checkList(l, 0, func(i int) bool { return A(&(*to)[i]).IsInSubGroup() })
}

// A device checks lists of so many points: for shorter ones, which a CPU checks in a second, kernels would have
// to be made, which takes longer where a machine never had them. It does so many at a time, which bounds its
// memory to a few hundred megabytes.
const (
	leastOnDevice = 1 << 18
	mostOnDevice  = 1 << 20
)

// apart says whether points are checked after they were read, and not by gnark's decoder.
func (r *loader) apart() bool { return r.device != nil || r.format == Dump || r.format == Mapped }

// checkList checks a list's points from one on, on the CPU.
func (r *loader) checkList(l list, from int, inGroup func(int) bool) error {
	size := len(l.b) / l.count
	inMemory := r.format == Dump || r.format == Mapped
	l.b, l.count = l.b[from*size:], l.count-from
	return r.parts(l, func(first, end int, b []byte) error {
		if inMemory && !canonical(b, r.modulus) {
			return fmt.Errorf("%w: %s: a coordinate not below the modulus, among points %d to %d", ErrFormat, l.name, from+first, from+end-1)
		}
		for i := from + first; i < from+end; i++ {
			if !inGroup(i) {
				return fmt.Errorf("%w: %s: point %d is not in its group", ErrFormat, l.name, i)
			}
		}
		return nil
	})
}

// parts calls f for all parts of a list, on all cores, until the context ends or there is an
// error.
func (r *loader) parts(l list, f func(first, end int, b []byte) error) error {
	size := len(l.b) / l.count
	var once sync.Once
	var failed error
	parallel.For((l.count+grain-1)/grain, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			first, end := i*grain, min((i+1)*grain, l.count)
			err := r.ctx.Err()
			if err == nil {
				err = f(first, end, l.b[first*size:end*size])
			}
			if err != nil {
				once.Do(func() { failed = err })
				return
			}
			r.meter.add((end - first) * size)
		}
	})
	return failed
}

// onDevice checks points of a group on a device, and their coordinates.
func onDevice[P, S any](c *msm.Curve[P, S]) func(*device.Device, []P) error {
	return func(d *device.Device, points []P) error {
		b, err := msm.New(d, c, points, msm.Options{Subgroup: msm.Verify})
		if err == nil {
			b.Close()
		}
		return err
	}
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
	if _, err := k.own.WriteTo(c); err != nil {
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
