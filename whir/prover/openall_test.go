package prover

import (
	"bytes"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// TestOpenAll opens commitments of several sizes, a padded one and one without codewords among them, together: the proofs are those of one opening
// after the other, memory is given back, also where an opening is refused, whose name is in the error.
func TestOpenAll(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		var openings []OpeningM31
		var params []*whir.M31Params
		for i, vars := range []int{6, 1, 7, 2} {
			k := newPacked(t, queue(t), newSource(uint64(70+vars)), vars, whir.Options{Lambda: 40})
			table := devicetest.Upload(t, q, k.c.owned.Host())
			defer table.Free()
			c, err := CommitTableM31(q, k.p, table)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Free()
			if vars == 6 {
				c.Shed()
			}
			openings = append(openings, OpeningM31{Name: []string{"six", "one", "seven", "two"}[i], Committed: c, Claims: k.claims})
			params = append(params, k.p)
		}
		start := func() *transcriptprover.Transcript {
			host := transcript.New(transcript.TagTest)
			for _, o := range openings {
				host.Absorb(words(t, o.Committed))
			}
			tr, err := transcriptprover.FromHost(q, host)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { tr.Free() })
			return tr
		}
		encoded := func(k int, pf *whir.M31Proof) []byte {
			out, err := params[k].AppendProof(nil, pf)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		tr := start()
		var want [][]byte
		for k, o := range openings {
			pf, err := o.Committed.Open(q, tr, o.Claims)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, encoded(k, pf))
		}
		tr = start()
		held := d.InUse()
		proofs, err := OpenAllM31(q, tr, openings)
		if err != nil {
			t.Fatal(err)
		}
		for k, pf := range proofs {
			if !bytes.Equal(encoded(k, pf), want[k]) {
				t.Errorf("%s: another proof than alone", openings[k].Name)
			}
		}
		if now := d.InUse(); now > held {
			t.Errorf("%d bytes more in use after openings", now-held)
		}

		// A claim that is too short, and one that is false, of the third.
		for what, claim := range map[string]whir.M31Claim{
			"has 6 variables": {Point: openings[2].Claims[0].Point[:6], Value: openings[2].Claims[0].Value},
			"":                {Point: openings[2].Claims[0].Point, Value: openings[2].Claims[0].Value.Add(m31.OneQM31())},
		} {
			bad := append([]OpeningM31(nil), openings...)
			bad[2].Claims = []whir.M31Claim{claim, openings[2].Claims[1]}
			if _, err := OpenAllM31(q, start(), bad); err == nil || !strings.Contains(err.Error(), "seven: ") || !strings.Contains(err.Error(), what) {
				t.Errorf("opened: %v", err)
			}
		}
		if now := d.InUse(); now > held+1<<16 {
			t.Errorf("%d bytes more in use after openings that were refused", now-held)
		}
		if proofs, err := OpenAllM31(q, start(), nil); err != nil || len(proofs) != 0 {
			t.Errorf("no openings: %d proofs, %v", len(proofs), err)
		}
	})
}

// TestMemoryOpenings adds up what openings keep, and takes the most of what their steps take one after the other and codewords that were shed, which
// are made again for all of them at the end.
func TestMemoryOpenings(t *testing.T) {
	choose := func(vars int) *whir.M31Params {
		p, err := whir.ChooseM31(vars, whir.Options{Lambda: 40})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	large, small := choose(22), choose(16)
	kept, steps := openParts(large.Inner())
	keptSmall, stepsSmall := openParts(small.Inner())
	code := codeBytes(large.Inner(), 0)
	if kept == 0 || stepsSmall >= steps || code <= steps {
		t.Fatalf("openings keep %d bytes, steps take %d and %d, codewords %d", kept, steps, stepsSmall, code)
	}
	both := []*whir.M31Params{small, large}
	for _, c := range []struct {
		shed []bool
		want int64
	}{
		{[]bool{false, false}, kept + keptSmall + steps},
		{[]bool{false, true}, kept + keptSmall + code},
		{[]bool{true, true}, kept + keptSmall + code + codeBytes(small.Inner(), 0)},
	} {
		if got := MemoryOpeningsM31(both, c.shed); got != c.want {
			t.Errorf("shed %v: %d bytes, want %d", c.shed, got, c.want)
		}
	}
	if _, alone := MemoryM31(large); MemoryOpeningsM31(both[1:], []bool{false}) != alone {
		t.Errorf("one opening takes %d bytes, by itself %d", MemoryOpeningsM31(both[1:], []bool{false}), alone)
	}
}
