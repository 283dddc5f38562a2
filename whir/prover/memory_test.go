package prover

import (
	"context"
	"errors"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// A commitment or an opening for which there is no memory is refused, with the
// bytes that it needs, before anything is done; what was held is given back.
func TestMemory(t *testing.T) {
	k := kindBabyBear4()
	sc := k.scenario(t, 95, k.shapes()["three rounds"])
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		defer d.SetBudget(0)
		table := uploads(t, q, sc.tables)[0]
		defer table.Free()
		refused := func(what string, err error, least int64) {
			t.Helper()
			var e *device.Error
			if !errors.Is(err, device.ErrNoMemory) || !errors.As(err, &e) || e.Bytes < least {
				t.Errorf("%s without memory: %v", what, err)
			}
		}
		need := commitBytes(sc.p, 0)
		d.SetBudget(d.InUse() + need - 1)
		before := q.Stats()
		_, err := k.prover.Commit(q, sc.p, table)
		refused("commitment", err, need)
		if n := q.Stats().Since(before).Launches; n != 0 {
			t.Errorf("%d launches of a commitment that was refused", n)
		}
		d.SetBudget(0)
		c, err := k.prover.Commit(q, sc.p, table)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Free()
		tr, err := transcriptprover.Start(q, k.transcript, transcript.TagTest)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Free()
		if err := tr.AbsorbHost(words(t, c)); err != nil {
			t.Fatal(err)
		}
		d.SetBudget(d.InUse() + c.openBytes() - 1)
		_, err = c.Open(q, tr, sc.statement())
		refused("opening", err, c.openBytes())
		d.SetBudget(0)
		held := d.InUse()
		if _, err := c.Open(q, tr, sc.statement()); err != nil {
			t.Fatal(err)
		}
		if now := d.InUse(); now > held {
			t.Errorf("%d bytes more in use after an opening", now-held)
		}
	})
}

// Work stops when the queue's context is done.
func TestCancelled(t *testing.T) {
	k := kindM31()
	sc := k.scenario(t, 96, k.shapes()["three rounds"])
	dev, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	q, err := dev.NewQueue(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	tables := uploads(t, q, sc.tables)
	c, err := k.prover.Commit(q, sc.p, tables...)
	if err != nil {
		t.Fatal(err)
	}
	tr := k.recorder()
	tr.Absorb(words(t, c))
	rounds := 0
	c.tamper.fold = func(round, _ int, zero, lead m31.QM31) (m31.QM31, m31.QM31) {
		if rounds++; round == 1 {
			cancel()
		}
		return zero, lead
	}
	if _, err := c.open(q, k.hosted(q, tr), sc.statement()); !errors.Is(err, context.Canceled) {
		t.Errorf("an opening that was cancelled: %v", err)
	}
	if rounds > 4 {
		t.Errorf("%d rounds after the opening was cancelled", rounds-3)
	}
	if _, err := k.prover.Commit(q, sc.p, tables...); !errors.Is(err, context.Canceled) {
		t.Errorf("a commitment after it: %v", err)
	}
	if _, err := CommitM31(q, nil, nil); err == nil {
		t.Error("a commitment without parameters")
	}
	if _, err := CM31(whir.Poseidon2).Commit(queue(t), nil); err == nil {
		t.Error("a commitment without parameters")
	}
}
