package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/mapped"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// storedLayout says how parameters lie in a device's memory as they are stored: 1, 2 or 4 bytes a value, one tensor after the other without
// padding. They take a half to an eighth of the words that kernels read, and cross the bus so.
type storedLayout struct {
	values []graph.Values // by parameter, in the order of the stack
	at     []int          // their first bytes
	bytes  int            // of all together
	end    int            // words of the stack up to the last parameter's
	desc   words          // for zkml_params
}

// storedAlign is what tensors begin at multiples of, so that values lie as kernels read them.
const storedAlign = 16

func newStoredLayout(pl *plan.Plan, p *graph.Program, w *graph.Weights) *storedLayout {
	ids, stack := p.Params(), &pl.Stacks[plan.Parameters]
	of := map[int]graph.TensorID{}      // by polynomial
	for i, k := range stack.Ordered() { // parameters are numbered in the same order
		of[k] = ids[i]
	}
	l := &storedLayout{end: pl.ParamsEnd()}
	var params, axes words
	for _, k := range stack.Polys { // as they lie in the stack, without gaps
		v := w.Of(of[k])
		l.values, l.at = append(l.values, v), append(l.at, l.bytes)
		l.desc.add(uint64(pl.Polys[k].Offset))
		a := axes.axes(p.Tensor(of[k]).Shape)
		params.add(uint64(l.bytes), uint64(v.Width()), uint64(5*len(ids)+a.at), uint64(a.n))
		l.bytes += (len(v.Bytes()) + storedAlign - 1) &^ (storedAlign - 1)
	}
	l.desc.add(append(params, axes...)...)
	return l
}

// read writes the stored bytes from number `from` on to out, on all cores. What is between tensors stays as it is.
func (l *storedLayout) read(out []byte, from int) error {
	return mapped.Guard(func() error {
		l.copy(out, from)
		return nil
	})
}

func (l *storedLayout) copy(out []byte, from int) {
	for i, v := range l.values {
		b := v.Bytes()
		lo, hi := max(l.at[i], from), min(l.at[i]+len(b), from+len(out))
		if lo >= hi {
			continue
		}
		to, b := out[lo-from:hi-from], b[lo-l.at[i]:]
		parallel.For(len(to), 1<<18, func(lo, hi int) { copy(to[lo:hi], b[lo:hi]) })
	}
}

// storedParams are parameters in a device's memory as they are stored.
type storedParams struct {
	layout *storedLayout
	bytes  device.Buffer[byte]
	desc   device.Buffer[uint64]
}

// upload puts them there. via may be nil.
func (l *storedLayout) upload(q *device.Queue, via *Uploader) (s *storedParams, err error) {
	if via == nil {
		if via, err = NewUploader(q.Device()); err != nil {
			return nil, err
		}
		defer via.Close() //nolint:errcheck // memory on the host, whose loss changes nothing
	}
	s = &storedParams{layout: l}
	defer func() {
		if err != nil {
			s.free()
			s = nil
		}
	}()
	if s.bytes, err = device.Alloc[byte](q, l.bytes); err != nil {
		return s, fmt.Errorf("parameters: %w", err)
	}
	if s.desc, err = device.Upload(q, []uint64(l.desc)); err != nil {
		return s, fmt.Errorf("parameters: %w", err)
	}
	size := via.pieces[0].Len()
	for at, i := 0, 0; at < l.bytes; at, i = at+size, 1-i {
		n := min(size, l.bytes-at)
		piece := via.pieces[i].Slice(0, n)
		bad := l.read(piece.Host(), at) // while the piece before is copied
		if err = q.Sync(); err != nil {
			return s, err
		}
		if err = bad; err != nil {
			return s, fmt.Errorf("parameters: %w", err)
		}
		if err = s.bytes.Slice(at, at+n).CopyFromPinned(q, piece); err != nil {
			return s, err
		}
	}
	return s, q.Sync()
}

// widen makes the words of the parameters' stack.
func (s *storedParams) widen(q *device.Queue, to device.Buffer[m31.Element]) error {
	l := s.layout
	return q.Launch(device.Kernel{Source: Source, Name: "zkml_params"}, device.D1(device.Blocks(to.Len(), 4*threads)), device.D1(threads), 0,
		to.Arg(), s.bytes.Arg(), s.desc.Arg(), device.U32(len(l.values)), device.U32(l.end), device.U32(to.Len()))
}

// size is the bytes of device memory.
func (s *storedParams) size() int64 { return int64(s.bytes.Len()) + 8*int64(s.desc.Len()) }

func (s *storedParams) free() {
	s.bytes.Free()
	s.desc.Free()
}
