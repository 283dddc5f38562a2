package pick

import (
	"errors"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

func TestMain(m *testing.M) { devicetest.Main(m, Sources()...) }

type (
	scalar [8]uint32
	wide   [12]uint32
	point  [48]uint32
)

// Elements of several sizes come from where the indices say, and go back there.
func TestPick(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		elements[scalar](t, q)
		elements[wide](t, q)
		elements[point](t, q)
	})
}

func elements[T interface{ scalar | wide | point }](t *testing.T, q *device.Queue) {
	t.Helper()
	for _, n := range []int{0, 1, 5, 300, 1000} {
		const all = 1500
		words := len(*new(T))
		list := make([]T, all)
		for i := range list {
			set(&list[i], i*words)
		}
		index := make([]uint32, n)
		want := make([]T, n)
		back := make([]T, all)
		for i := range index {
			index[i] = uint32((i*7 + 3) % all)
			want[i] = list[index[i]]
			back[index[i]] = list[index[i]]
		}
		from, err := device.Upload(q, list)
		if err != nil {
			t.Fatal(err)
		}
		at, err := device.Upload(q, index)
		if err != nil {
			t.Fatal(err)
		}
		out, err := device.Alloc[T](q, n)
		if err != nil {
			t.Fatal(err)
		}
		if err := From(q, out, from, at); err != nil {
			t.Fatal(err)
		}
		if got, err := out.Read(q); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d of %d elements of %d words: wrong, error %v", n, all, words, err)
		}
		there, err := device.Alloc[T](q, all)
		if err != nil {
			t.Fatal(err)
		}
		if err := there.Zero(q); err != nil {
			t.Fatal(err)
		}
		if err := To(q, there, out, at); err != nil {
			t.Fatal(err)
		}
		if got, err := there.Read(q); err != nil || !slices.Equal(got, back) {
			t.Errorf("%d of %d elements of %d words, back: wrong, error %v", n, all, words, err)
		}
		if n > 1 {
			if err := From(q, out.Slice(0, 1), from, at); !errors.Is(err, device.ErrUsage) {
				t.Errorf("a place for %d elements: %v", n, err)
			}
			if err := To(q, from, from.Slice(0, n), at); !errors.Is(err, device.ErrUsage) {
				t.Errorf("a list within the other: %v", err)
			}
		}
		for _, b := range []device.Buffer[T]{from, out, there} {
			b.Free()
		}
		at.Free()
		if n > 0 {
			if err := From(q, out, from, at); !errors.Is(err, device.ErrUsage) {
				t.Errorf("lists that were freed: %v", err)
			}
		}
	}
}

// set makes words that differ of a number.
func set[T interface{ scalar | wide | point }](x *T, from int) {
	switch x := any(x).(type) {
	case *scalar:
		count(x[:], from)
	case *wide:
		count(x[:], from)
	case *point:
		count(x[:], from)
	}
}

func count(words []uint32, from int) {
	for k := range words {
		words[k] = uint32(from + k + 1)
	}
}

func TestUnits(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		odd, err := device.Alloc[[3]uint32](q, 4)
		if err != nil {
			t.Fatal(err)
		}
		defer odd.Free()
		at, err := device.Upload(q, []uint32{1})
		if err != nil {
			t.Fatal(err)
		}
		defer at.Free()
		if err := From(q, odd.Slice(0, 1), odd.Slice(2, 4), at); !errors.Is(err, device.ErrUsage) {
			t.Errorf("elements of 12 bytes: %v", err)
		}
	})
}
