package msm

import (
	"context"
	"errors"

	"github.com/zkwarp/zkwarp/device"
)

// warmBytes is up to how much memory a multiplication keeps while nothing is done.
const warmBytes = 128 << 20

// ready is a small multiplication that is kept ready, since it takes less time than to
// allocate its memory and to launch its kernels one by one.
type ready interface {
	share() share
	sums(src source) ([]Part, error)
	close()
}

// warm is one by a schedule.
type warm struct {
	*run
	words device.Buffer[uint32] // the scalars
	runs  int
	graph *device.Graph // of all launches, from the second run on
}

// small says whether a schedule is worth keeping ready: one group of one chunk.
func (s *schedule) small() bool {
	return len(s.chunks)*len(s.groups) == 1 && s.bytes <= warmBytes
}

// placed is scalars that are in place.
type placed struct{ buf device.Buffer[uint32] }

func (placed) upload() bool { return false }

func (placed) link() float64 { return 0 }

func (p placed) words(*device.Queue, device.Buffer[uint32], int, int) (device.Buffer[uint32], error) {
	return p.buf, nil
}

// quick is sums by what is kept ready. It takes about as long as a wait: ctx is looked
// at before and after.
func (r *resident) quick(ctx context.Context, w ready, src source) ([]Part, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	parts, err := w.sums(src)
	if err != nil && !errors.Is(err, ErrInput) {
		delete(r.warm, w.share())
		w.close()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return parts, err
}

// warmUp gets a schedule ready, and keeps it so.
func (r *resident) warmUp(s *schedule) (*warm, error) {
	// The queue outlives the sum's context.
	q, err := r.dev.NewQueue(context.Background())
	if err != nil {
		return nil, err
	}
	c := *s
	c.upload = false
	w := &warm{run: &run{schedule: &c, main: q, side: q, uploads: q, points: r.points}}
	if err = w.alloc(); err == nil {
		w.words, err = alloc(w.run, q, (s.rng.To-s.rng.From)*s.group.Scalar.Limbs)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	r.warm[w.share()] = w
	return w, nil
}

func (w *warm) sums(src source) ([]Part, error) {
	got, err := src.words(w.main, w.words, w.rng.From, w.rng.To)
	if err == nil && !src.upload() {
		err = device.Copy(w.main, w.words, got)
	}
	if err != nil {
		return nil, err
	}
	if w.runs++; w.runs == 2 {
		// The first run has loaded all kernels. Where there are no graphs the launches are
		// made each time.
		if w.graph, err = w.main.Record(func() error { return w.enqueue(placed{w.words}) }); err != nil {
			w.graph = nil
		}
	}
	if w.graph != nil {
		err = w.graph.Launch()
	} else {
		err = w.enqueue(placed{w.words})
	}
	if err != nil {
		return nil, err
	}
	return w.finish()
}

func (w *warm) close() {
	if w.graph != nil {
		// What is wrong with the device shows at the next call.
		_ = w.graph.Free()
	}
	w.free()
	_ = w.main.Close()
}

func (w *warm) share() share { return share{w.windows, w.rng} }
