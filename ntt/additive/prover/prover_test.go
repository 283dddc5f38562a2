package prover

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/ntt/additive"
)

func TestMain(m *testing.M) { devicetest.Main(m, Source) }

func random(n int) []gf2.Element {
	g := rand.New(rand.NewPCG(uint64(n), 3))
	v := make([]gf2.Element, n)
	for i := range v {
		v[i] = gf2.Element{Lo: g.Uint64(), Hi: g.Uint64() | 1}
	}
	return v
}

// Every size up to three passes, at different rates.
func TestEncode(t *testing.T) {
	for k := range 13 {
		message := random(1 << k)
		for _, rate := range []int{k % 2, 2 + k%2} {
			if k+rate > 13 {
				continue
			}
			want := make([]gf2.Element, len(message)<<rate)
			if err := additive.Encode(want, message); err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprintf("2^%d,rate=%d", k, rate), func(t *testing.T) {
				devicetest.Each(t, func(t *testing.T, q *device.Queue) {
					e, err := NewEncoder(q)
					if err != nil {
						t.Fatal(err)
					}
					defer e.Free()
					src := devicetest.Upload(t, q, message)
					dst := devicetest.Upload(t, q, random(len(want)))
					if err := e.Encode(dst, src); err != nil {
						t.Fatal(err)
					}
					got, err := dst.Read(q)
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(got, want) {
						at := 0
						for got[at] == want[at] {
							at++
						}
						t.Fatalf("symbol %d is %v, want %v", at, got[at], want[at])
					}
					if after, err := src.Read(q); err != nil || !slices.Equal(after, message) {
						t.Fatalf("the message changed (%v)", err)
					}
				})
			})
		}
	}
}

func TestUsage(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		e, err := NewEncoder(q)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Free()
		b := devicetest.Upload(t, q, random(64))
		var length *additive.LengthError
		if err := e.Encode(b.Slice(0, 3), b.Slice(8, 9)); !errors.As(err, &length) || length.Got != 3 {
			t.Errorf("a codeword of 3: %v", err)
		}
		if err := e.Encode(b.Slice(0, 4), b.Slice(8, 14)); !errors.As(err, &length) || length.Got != 6 {
			t.Errorf("a message of 6: %v", err)
		}
		if err := e.Encode(b.Slice(0, 4), b.Slice(8, 16)); !errors.As(err, &length) || length.Want != 8 || length.Got != 4 {
			t.Errorf("a codeword shorter than its message: %v", err)
		}
		if err := e.Encode(b.Slice(0, 16), b.Slice(8, 16)); !errors.Is(err, device.ErrUsage) {
			t.Errorf("overlap: %v", err)
		}
		for name, s := range devicetest.Strange[gf2.Element](t, q, 8) {
			if err := e.Encode(s, b.Slice(0, 4)); !errors.Is(err, device.ErrUsage) {
				t.Errorf("codeword %s: %v", name, err)
			}
			if err := e.Encode(b.Slice(0, 16), s); !errors.Is(err, device.ErrUsage) {
				t.Errorf("message %s: %v", name, err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	for _, k := range []int{17, 21} {
		b.Run(fmt.Sprintf("2^%d", k), func(b *testing.B) {
			d := devicetest.Open(b, "cuda")
			q := devicetest.Queue(b, d)
			e, err := NewEncoder(q)
			if err != nil {
				b.Fatal(err)
			}
			defer e.Free()
			src := devicetest.Upload(b, q, random(1<<k))
			dst := devicetest.Upload(b, q, random(4<<k))
			for b.Loop() {
				if err := errors.Join(e.Encode(dst, src), q.Sync()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
