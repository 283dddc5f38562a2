package prover

import (
	"bytes"
	"errors"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// TestShed gives up the codewords of a commitment and its table, and opens it over the table at other places, twice: the proof is the one that the
// whole commitment gives, memory is the tree's between openings, and an opening for whose codewords there is no room is refused.
func TestShed(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		for _, vars := range []int{1, 2, 9} {
			k := newPacked(t, queue(t), newSource(uint64(vars)), vars, whir.Options{Lambda: 40})
			values := k.c.owned.Host()
			prove := func(c *CommittedM31, room int64) ([]byte, error) {
				host := transcript.New(transcript.TagTest)
				host.Absorb(words(t, c))
				tr, err := transcriptprover.FromHost(q, host)
				if err != nil {
					t.Fatal(err)
				}
				defer tr.Free()
				if room > 0 {
					d.SetBudget(d.InUse() + room)
					defer d.SetBudget(0)
				}
				pf, err := c.Open(q, tr, k.claims)
				if err != nil {
					return nil, err
				}
				out, err := k.p.AppendProof(nil, pf)
				if err != nil {
					t.Fatal(err)
				}
				return out, nil
			}
			table := devicetest.Upload(t, q, values)
			whole, err := CommitTableM31(q, k.p, table)
			if err != nil {
				t.Fatal(err)
			}
			commitment, _ := MemoryM31(k.p)
			if whole.Bytes() != commitment {
				t.Errorf("2^%d: %d bytes, expected %d", vars, whole.Bytes(), commitment)
			}
			want, err := prove(whole, 0)
			if err != nil {
				t.Fatal(err)
			}
			before := d.InUse()
			whole.Shed()
			code := before - d.InUse()
			tree, codes := MemoryShedM31(k.p)
			if code <= 0 || tree != commitment-code || whole.Bytes() != tree || codes != code {
				t.Errorf("2^%d: %d bytes given back of %d (%d), %d left (%d)", vars, code, commitment, codes, whole.Bytes(), tree)
			}
			most := MemoryOpeningsM31([]*whir.M31Params{k.p}, []bool{true})
			if err := table.Zero(q); err != nil { // it is not looked at again
				t.Fatal(err)
			}
			for range 2 {
				other := devicetest.Upload(t, q, values)
				over, err := whole.Over(other)
				if err != nil {
					t.Fatal(err)
				}
				if rootOf(t, over) != rootOf(t, k.c) || over.Bytes() != tree {
					t.Errorf("2^%d: another root, or %d bytes", vars, over.Bytes())
				}
				held := d.InUse()
				if vars > 1 {
					if _, err := prove(over, most-1); !errors.Is(err, device.ErrNoMemory) {
						t.Errorf("2^%d: opened without memory for the codewords: %v", vars, err)
					}
				}
				got, err := prove(over, 0)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("2^%d: another proof", vars)
				}
				if now := d.InUse(); now > held {
					t.Errorf("2^%d: %d bytes more in use after an opening", vars, now-held)
				}
				over.Free() // the tree stays
				other.Free()
			}
			if _, err := whole.Over(device.Buffer[m31.Element]{}); err == nil {
				t.Errorf("2^%d: a commitment over no table", vars)
			}
			whole.Free()
		}
	})
}
