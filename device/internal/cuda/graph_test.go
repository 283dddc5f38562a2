//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"testing"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

const liveGraphs = 6 // a counter of the fake driver

func TestGraph(t *testing.T) {
	f := newFake(t)
	d := f.open(t)
	funcs := must(d.Load(unit))(t)
	s := stream1(t, d).(*stream)
	p := must(d.Alloc(s, 64))(t)
	one := driver.Dim{X: 1, Y: 1, Z: 1}
	launch := func() error { return s.Launch(funcs["fake_increment"], one, one, 0, []uint64{uint64(p), 2}) }
	if err := errors.Join(s.Fill(p, 10, 64), s.Sync()); err != nil {
		t.Fatal(err)
	}
	g := must(s.Record(func() error { return errors.Join(launch(), launch(), launch()) }))(t)
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if got := words(p, 3); got[0] != 10 {
		t.Fatalf("recording ran: %v", got)
	}
	if n := f.count(liveGraphs); n != 1 {
		t.Errorf("%d graphs after recording one", n)
	}
	if err := errors.Join(g.Launch(), launch(), g.Launch(), s.Sync()); err != nil {
		t.Fatal(err)
	}
	if got := words(p, 3); got[0] != 17 || got[1] != 17 || got[2] != 10 {
		t.Errorf("after 3 + 1 + 3 launches: %v", got)
	}
	if err := errors.Join(g.Close(), g.Close()); err != nil || f.count(liveGraphs) != 0 {
		t.Errorf("closing: %v, %d graphs left", err, f.count(liveGraphs))
	}

	// A fence that is taken during a recording leaves the stream out, and only then.
	fences := func() int { return len(must((*deviceMemory)(d).fence())(t).(*events).list) }
	during := -1
	if err := must(s.Record(func() error { during = fences(); return launch() }))(t).Close(); err != nil {
		t.Fatal(err)
	}
	if after := fences(); during != 0 || after != 1 {
		t.Errorf("fences over %d streams during a recording of the only one, %d after it", during, after)
	}

	// What a recording does not take leaves no graph and a stream that works.
	failure := errors.New("no more")
	if _, err := s.Record(func() error { return errors.Join(launch(), failure) }); !errors.Is(err, failure) {
		t.Errorf("op fails: %v", err)
	}
	if _, err := s.Record(s.Sync); asDriverError(t, err).Code != 900 {
		t.Errorf("op waits: %v", err)
	}
	if n := f.count(liveGraphs); n != 0 {
		t.Errorf("%d graphs left", n)
	}
	if err := errors.Join(launch(), s.Sync()); err != nil || words(p, 1)[0] != 18 {
		t.Errorf("afterwards: %v, %v", err, words(p, 1))
	}

	// An old driver has no graphs.
	d.streamBeginCapture = 0
	if _, err := s.Record(launch); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("without the functions: %v", err)
	}
}
