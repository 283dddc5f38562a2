package prover

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// openOn proves sc's statement on q.
func (sc *scenario[W, F, E]) openOn(q *device.Queue, c *Committed[W, F, E]) (*whir.Proof[W, E], error) {
	tr, err := transcriptprover.Start(q, sc.transcript, transcript.TagTest)
	if err != nil {
		return nil, err
	}
	defer tr.Free()
	list, err := c.Words()
	if err != nil {
		return nil, err
	}
	if err := tr.AbsorbHost(list); err != nil {
		return nil, err
	}
	return c.Open(q, tr, sc.statement())
}

// A commitment may be opened by several queues at once; all proofs are the same.
func TestOpenAtOnce(t *testing.T) {
	k := kindBabyBear4()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, name := range []string{"three rounds", "batch", "work"} {
			sc := k.scenario(t, 97, k.shapes()[name])
			c, err := k.prover.Commit(q, sc.p, uploads(t, q, sc.tables)...)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Free()
			root := rootOf(t, c)
			var wait sync.WaitGroup
			proofs := make([]string, 4)
			for i := range proofs {
				wait.Go(func() {
					own, err := q.Device().NewQueue(context.Background())
					if err != nil {
						t.Error(err)
						return
					}
					defer own.Close()
					pf, err := sc.openOn(own, c)
					if err == nil {
						err = sc.verify(root, pf)
					}
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					enc, _ := k.scheme.AppendProof(nil, sc.p, pf)
					proofs[i] = string(enc)
				})
			}
			wait.Wait()
			for _, pf := range proofs {
				if pf != proofs[0] {
					t.Errorf("%s: openings at once differ", name)
				}
			}
		}
	})
}

// What was freed, or lies on another device, is refused.
func TestFreedAndForeign(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testFreedAndForeign(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testFreedAndForeign(t, kindBabyBear4()) })
}

func testFreedAndForeign[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		sc := k.scenario(t, 98, k.shapes()["batch"])
		fresh := func() ([]device.Buffer[F], *Committed[W, F, E]) {
			tables := uploads(t, q, sc.tables)
			c, err := k.prover.Commit(q, sc.p, tables...)
			if err != nil {
				t.Fatal(err)
			}
			return tables, c
		}
		refused := func(what string, err error) {
			t.Helper()
			if err == nil {
				t.Errorf("%s: no error", what)
			}
		}
		tables, c := fresh()
		rootOf(t, c)
		tables[1].Free()
		_, err := sc.openOn(q, c)
		refused("a table that was freed", err)
		_, err = k.prover.Commit(q, sc.p, tables...)
		refused("commitment to a table that was freed", err)
		_, c = fresh()
		rootOf(t, c)
		c.Free()
		_, err = sc.openOn(q, c)
		refused("a commitment that was freed", err)
		c.Free() // again, which changes nothing

		other, err := device.Open("cpu")
		if err != nil {
			t.Fatal(err)
		}
		foreign, err := other.NewQueue(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer foreign.Close()
		tables, c = fresh()
		rootOf(t, c)
		if q.Device() != other {
			_, err = sc.openOn(foreign, c)
			refused("a queue of another device", err)
			_, err = k.prover.Commit(foreign, sc.p, tables...)
			refused("tables of another device", err)
		}
		// The statement of other tables has no proof that verifies, but no panic either.
		empty := &scenario[W, F, E]{kind: k, p: sc.p, tables: sc.tables}
		pf, err := empty.openOn(q, c)
		if err == nil {
			err = empty.verify(rootOf(t, c), pf)
		}
		if err != nil {
			t.Errorf("no claims: %v", err)
		}
	})
}

// Shapes at the edges: one variable, one round that binds all variables, no claims,
// as many claims as there may be, batches of odd numbers, every arity.
func TestEdges(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testEdges(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testEdges(t, kindBabyBear4()) })
}

func testEdges[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	for _, vars := range []int{1, 2, 5} {
		for _, batch := range []int{1, 7} {
			for _, arity := range []int{2, 4, 8} {
				for _, claims := range []int{0, 1, 40} {
					c := with(k.config(vars, 2, whir.Round{Fold: vars, Queries: 9, QueryWork: 1}), func(c *whir.Config) {
						c.Batch, c.Arity, c.Claims = batch, arity, 40
					})
					sc := k.scenario(t, 99, c)
					all := sc.claims[:5] // those of product form
					sc.claims = nil
					for i := range claims {
						sc.claims = append(sc.claims, all[i%5])
					}
					root, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
					what := fmt.Sprintf("%d variables, batch of %d, arity %d, %d claims", vars, batch, arity, claims)
					if err := sc.verify(root, pf); err != nil {
						t.Errorf("%s: %v", what, err)
					}
					if claims > 0 {
						sc.claims[claims-1].Values = append([]E(nil), sc.claims[claims-1].Values...)
						v := sc.claims[claims-1].Values
						v[batch-1] = v[batch-1].Add(one[E]())
						root, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
						expect(t, what, sc.verify(root, pf), whir.CheckFinalClaim)
					}
				}
			}
		}
	}
}
