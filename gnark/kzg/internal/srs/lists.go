package srs

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm"
)

// most is how many lengths of polynomials bases are kept for. A prover commits to
// polynomials of a few lengths, which differ by its blinding.
const most = 8

// lists are bases of the first points on the devices, one for each length of polynomials
// that came lately. They share the points' memory, all but those whose sums are made in
// another form of the curve.
type lists[P, S any] struct {
	curve   *msm.Curve[P, S]
	devices []*device.Device
	there   []device.Buffer[P]

	mu      sync.Mutex
	all     []*list[P, S] // the most recently used first
	limited bool
	left    int64 // bytes of each device, if limited
}

// list is bases of the first n points.
type list[P, S any] struct {
	n     int
	bases *msm.Bases[P, S]
	bytes int64 // that they take besides the points
	users int
}

// take is the bases of the first n points, which release gives back.
func (l *lists[P, S]) take(n int) (*list[P, S], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.all, func(x *list[P, S]) bool { return x.n == n }); i >= 0 {
		x := l.all[i]
		l.all = slices.Insert(slices.Delete(l.all, i, i+1), 0, x)
		x.users++
		return x, nil
	}
	x := &list[P, S]{n: n, users: 1}
	// Kernels are made, and points brought into another form, with the lock: whoever waits
	// would wait for the same.
	o := msm.Options{Subgroup: msm.Asserted}
	if edwards(l.curve.Group) {
		var point P
		x.bytes = int64(n) * int64(unsafe.Sizeof(point)) / 2 * 3
		for l.limited && x.bytes > l.left && l.leave() {
		}
		if l.limited && x.bytes > l.left {
			// Sums over points as they are take no memory for points, and longer.
			o.Subgroup, x.bytes = msm.Unchecked, 0
		}
	}
	for len(l.all) >= most && l.leave() {
	}
	var points []device.Buffer[P]
	for _, b := range l.there {
		points = append(points, b.Slice(0, n))
	}
	var err error
	if x.bases, err = msm.NewBuffers(l.devices, l.curve, points, o); err != nil {
		return nil, err
	}
	l.left -= x.bytes
	l.all = slices.Insert(l.all, 0, x)
	return x, nil
}

// leave closes the least recently used bases that have no users, if there are any.
func (l *lists[P, S]) leave() bool {
	for i, x := range slices.Backward(l.all) {
		if x.users == 0 {
			l.all = slices.Delete(l.all, i, i+1)
			l.left += x.bytes
			x.bases.Close()
			return true
		}
	}
	return false
}

// drop closes all bases that have no users.
func (l *lists[P, S]) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.leave() {
	}
}

func (l *lists[P, S]) release(x *list[P, S]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x.users--
}

// bytes is what the bases take besides the points.
func (l *lists[P, S]) bytes() (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.all {
		n += x.bytes
	}
	return n
}

// close gives everything back. Nobody uses it any more.
func (l *lists[P, S]) close() {
	for _, x := range l.all {
		x.bases.Close()
	}
	l.all = nil
}
