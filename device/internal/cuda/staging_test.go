//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/zkwarp/zkwarp/device/internal/dl"
	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// Large copies come right by as many chunks of page-locked memory as there are, and are an
// error only where there is none.
func TestLargeCopies(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	const n = (wideChunks*chunkBytes + 40) / 4
	in := make([]uint32, n)
	for i := range in {
		in[i] = uint32(i)
	}
	for _, chunks := range []int{0, 1, 2, 100} {
		t.Run(strconv.Itoa(chunks), func(t *testing.T) {
			f := newFake(t)
			d := f.open(t)
			s := stream1(t, d)
			p := must(d.Alloc(s, 4*n))(t)
			dl.Call(f.mostPinned, uintptr(f.count(pinned)+chunks))
			for range 2 {
				err := s.CopyIn(p, asBytes(in))
				if chunks == 0 {
					if !errors.Is(err, driver.ErrNoMemory) {
						t.Errorf("error %v", err)
					}
					continue
				}
				if err := errors.Join(err, s.Sync()); err != nil {
					t.Error(err)
				} else if !slices.Equal(words(p, n), in) {
					t.Error("the copy is not what was copied")
				}
			}
			if err := errors.Join(d.Free(s, p), s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}
