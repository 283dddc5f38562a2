package bases

import (
	_ "embed" // kernel sources
	"fmt"
	"math/big"
	"slices"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
)

//go:embed scalars.cu
var scalarsText string

// fields are those of scalars, each once.
var fields = func() []*mont.Field {
	out := []*mont.Field{curve.Toy61.Scalar}
	for _, g := range curve.Groups {
		if !slices.Contains(out, g.Scalar) {
			out = append(out, g.Scalar)
		}
	}
	return out
}()

var scalarUnits = func() map[*mont.Field]*kernel.Source {
	t := kernel.Template{Name: "msm/internal/bases/scalars.cu", Text: scalarsText}
	out := map[*mont.Field]*kernel.Source{}
	for _, f := range fields {
		out[f] = curve.ScalarUnit(f, t, nil, kernel.PTX)
	}
	return out
}()

// Kinds of random scalars; their numbers are those in scalars.cu.
var Kinds = []string{"uniform", "zero-one", "equal", "bits64", "hot-window", "half"}

const (
	uniform = iota
	zeroOne
	equal
	bits64
	hotWindow
	half
)

// bits 64 to 114 of all scalars of kind hot-window are the same.
const hotFrom, hotBits = 64, 51

// Random fills out with scalars from, from+1, ... of a stream that the seed and the kind
// give, in Montgomery form: uniform; 0 or 1; all the same; uniform below 2^64; uniform
// but for 51 bits that are all the same; half of them, at random, the same. Each depends
// on its index alone (Philox4x32-10 with rejection).
func Random(q *device.Queue, f *mont.Field, out device.Buffer[uint32], kind string, seed uint64, from int) error {
	k := slices.Index(Kinds, kind)
	n := out.Len() / f.Limbs
	if k < 0 || scalarUnits[f] == nil || n*f.Limbs != out.Len() || from < 0 || n > 1<<31 {
		return fmt.Errorf("bases: %d words of %q scalars of %s: %w", out.Len(), kind, f.Name, device.ErrUsage)
	}
	if n == 0 {
		return nil
	}
	s := newStream(f, seed)
	if q.OnHost() {
		to := out.Host()
		return q.Parallel(n, 1<<10, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				copy(to[i*f.Limbs:], s.scalar(k, uint64(from)+uint64(i)))
			}
		})
	}
	same, err := device.Upload(q, s.same)
	if err != nil {
		return err
	}
	defer same.Free()
	return q.Launch(device.Kernel{Source: scalarUnits[f], Name: "scalars_random_" + f.Name}, device.D1(device.Blocks(n, threads)), device.D1(threads), 0,
		out.Arg(), same.Arg(), device.U32(k), device.U64(seed), device.U64(from), device.U32(n))
}

// stream is the generator on the host.
type stream struct {
	f    *mont.Field
	seed uint64
	same []uint32 // the number that scalars have in common
}

// newStream is the stream of a seed. What scalars have in common is the first that index
// 2^64 - 1 draws below the modulus.
func newStream(f *mont.Field, seed uint64) stream {
	s := stream{f: f, seed: seed}
	for attempt := uint32(0); ; attempt++ {
		if s.same = s.draw(1<<64-1, attempt); f.Int(s.same).Cmp(f.Modulus) < 0 {
			return s
		}
	}
}

func philox(c [4]uint32, seed uint64) [4]uint32 {
	k0, k1 := uint32(seed), uint32(seed>>32)
	for range 10 {
		a, b := uint64(c[0])*0xd2511f53, uint64(c[2])*0xcd9e8d57
		c = [4]uint32{uint32(b>>32) ^ c[1] ^ k0, uint32(b), uint32(a>>32) ^ c[3] ^ k1, uint32(a)}
		k0 += 0x9e3779b9
		k1 += 0xbb67ae85
	}
	return c
}

// draw is a number of as many bits as the modulus has.
func (s stream) draw(index uint64, attempt uint32) []uint32 {
	out := make([]uint32, 0, s.f.Limbs+3)
	for b := uint32(0); len(out) < s.f.Limbs; b++ {
		c := philox([4]uint32{uint32(index), uint32(index >> 32), b, attempt}, s.seed)
		out = append(out, c[:]...)
	}
	out = out[:s.f.Limbs]
	for j := range out {
		switch used := s.f.Bits() - 32*j; {
		case used <= 0:
			out[j] = 0
		case used < 32:
			out[j] &= 1<<used - 1
		}
	}
	return out
}

func (s stream) scalar(kind int, index uint64) []uint32 {
	coin := philox([4]uint32{uint32(index), uint32(index >> 32), 1<<32 - 1}, s.seed)[0] & 1
	switch {
	case kind == zeroOne:
		return s.f.Montgomery(big.NewInt(int64(coin)))
	case kind == equal, kind == half && coin == 1:
		return s.f.Montgomery(s.f.Int(s.same))
	}
	for attempt := uint32(0); ; attempt++ {
		w := s.draw(index, attempt)
		if kind == bits64 {
			clear(w[2:])
		}
		if kind == hotWindow && s.f.Limbs > 4 {
			const high = 1<<(hotFrom+hotBits-96) - 1
			w[2], w[3] = s.same[2], w[3]&^high|s.same[3]&high
		}
		v := s.f.Int(w)
		switch {
		case v.Cmp(s.f.Modulus) >= 0:
		case kind == bits64 || kind == hotWindow:
			return s.f.Montgomery(v)
		default:
			return w
		}
	}
}

// dotThreads is how many sums scalars_dot leaves to the host.
const dotThreads = 1 << 14

// Dot is Σ scalars[i] (low[j mod 2^log] + high[j / 2^log]) for j = from + i, where all are
// in Montgomery form and low has 2^log elements.
func Dot(q *device.Queue, f *mont.Field, scalars, low, high device.Buffer[uint32], log, from int) (*big.Int, error) {
	n := scalars.Len() / f.Limbs
	if scalarUnits[f] == nil || n*f.Limbs != scalars.Len() || from < 0 || int64(from)+int64(n) > 1<<32-1 ||
		low.Len() != f.Limbs<<log || n > 0 && high.Len() < ((from+n-1)>>log+1)*f.Limbs {
		return nil, fmt.Errorf("bases: product of %d words of scalars with %d and %d of logarithms: %w", scalars.Len(), low.Len(), high.Len(), device.ErrUsage)
	}
	total := new(big.Int)
	if n == 0 {
		return total, nil
	}
	if q.OnHost() {
		at := func(b device.Buffer[uint32], i int) *big.Int {
			return f.FromMontgomery(b.Host()[i*f.Limbs : (i+1)*f.Limbs])
		}
		for i := range n {
			k := at(low, (from+i)&(1<<log-1))
			k.Add(k, at(high, (from+i)>>log))
			total.Add(total, k.Mul(k, at(scalars, i)))
		}
		return total.Mod(total, f.Modulus), nil
	}
	blocks := device.Blocks(min(n, dotThreads), threads)
	sums, err := device.Alloc[uint32](q, blocks*threads*f.Limbs)
	if err != nil {
		return nil, err
	}
	defer sums.Free()
	err = q.Launch(device.Kernel{Source: scalarUnits[f], Name: "scalars_dot_" + f.Name}, device.D1(blocks), device.D1(threads), 0,
		sums.Arg(), scalars.Arg(), low.Arg(), high.Arg(), device.U32(log), device.U32(from), device.U32(n))
	if err != nil {
		return nil, err
	}
	words, err := sums.Read(q)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(words); i += f.Limbs {
		total.Add(total, f.Int(words[i:i+f.Limbs]))
	}
	return f.FromMontgomery(f.Words(total.Mod(total, f.Modulus))), nil
}
