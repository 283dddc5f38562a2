package devicetest

import (
	"testing"

	"github.com/zkwarp/zkwarp/device"
)

func TestSameBuffers(t *testing.T) {
	data := Rand(1).Words(1001)
	Same(t, func(t *testing.T, q *device.Queue) []byte {
		b, err := device.Upload(q, data)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		if err := device.Copy(q, b.Slice(1, 300), b.Slice(400, 699)); err != nil {
			t.Fatal(err)
		}
		if err := b.Slice(990, 1000).Fill(q, 7); err != nil {
			t.Fatal(err)
		}
		got, err := device.View[byte](b).Read(q)
		if err != nil {
			t.Fatal(err)
		}
		return got
	})
}

// The cpu's bytes are there to compare with even in a run that leaves it out.
func TestSameHasReference(t *testing.T) {
	t.Setenv("ZKWARP_TEST_DEVICES", "none")
	var asked []string
	Same(t, func(_ *testing.T, q *device.Queue) []byte {
		asked = append(asked, q.Device().Name())
		return nil
	})
	Each(t, func(*testing.T, *device.Queue) { t.Error("a device that is left out was tested") })
	if len(asked) != 1 || asked[0] != "cpu" {
		t.Errorf("asked %v, want the cpu alone", asked)
	}
}

func TestRandHasNoZeros(t *testing.T) {
	g := Rand(2)
	seen := map[uint32]bool{}
	for range 1000 {
		v := g.Below(3)
		if v == 0 || v >= 3 {
			t.Fatalf("Below(3) gave %d", v)
		}
		seen[v] = true
	}
	if len(seen) != 2 {
		t.Fatalf("values %v", seen)
	}
	a, b := Rand(3).Words(50), Rand(3).Words(50)
	for i := range a {
		if a[i] != b[i] || a[i] == 0 {
			t.Fatal("not reproducible, or zero")
		}
	}
}

func TestFirstDifference(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", -1}, {"abc", "abc", -1}, {"abc", "abd", 2}, {"ab", "abc", 2}, {"x", "", 0}} {
		if got := firstDifference([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%q, %q: %d", c.a, c.b, got)
		}
	}
}
