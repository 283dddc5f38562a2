package msm

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/field/mont"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// words is the memory of elements that consist of whole 32-bit words.
func words[T any](v []T) []uint32 {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])/4))
}

// checkScalars finds the first scalar that is not below the modulus.
func checkScalars[S any](f *mont.Field, scalars []S) error {
	all, p := words(scalars), f.Words(f.Modulus)
	n := f.Limbs
	var mu sync.Mutex
	first := -1
	parallel.For(len(scalars), 1<<14, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if below(all[i*n:i*n+n], p) {
				continue
			}
			mu.Lock()
			if first < 0 || i < first {
				first = i
			}
			mu.Unlock()
			return
		}
	})
	if first >= 0 {
		return badScalar(first)
	}
	return nil
}

// below says whether a < b, lowest words first.
func below(a, b []uint32) bool {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func badScalar(i int) error {
	return fmt.Errorf("msm: scalar %d: %w: not below the group's order", i, ErrInput)
}
