package prover

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
	"github.com/zkwarp/zkwarp/zkml/prover"
)

// TestStay checks which keys stay for what memory: all, or those that leave room for two or one of the others, spread over the chain.
func TestStay(t *testing.T) {
	for _, k := range []struct {
		limit int64
		stays string
		ahead bool
		need  int64
	}{
		{0, "++++++", true, 65},
		{65, "++++++", true, 65},
		{64, "-+-+-+", true, 55}, // five and one in turn would leave no time to load it
		{45, "--+--+", true, 45},
		{25, "------", true, 25},
		{24, "------", false, 15},
		{15, "------", false, 15},
		{14, "------", false, 15}, // which fails when it is proved
	} {
		m := &Memory{Parts: make([]PartMemory, 6)}
		for i := range m.Parts {
			m.Parts[i].forms[prover.Wide].key, m.Parts[i].forms[prover.Wide].proof = 10, 5
		}
		d := DeviceMemory{Limit: k.limit, Parts: []int{0, 1, 2, 3, 4, 5}}
		m.stay(&d)
		stays := ""
		for _, p := range m.Parts {
			stays += map[bool]string{true: "+", false: "-"}[p.Stays]
		}
		if stays != k.stays || d.Ahead != k.ahead || d.Need != k.need {
			t.Errorf("%d bytes: %s, ahead %t, needs %d, expected %s, %t, %d", k.limit, stays, d.Ahead, d.Need, k.stays, k.ahead, k.need)
		}
	}
}

// TestStayNarrow: where keys can be narrow, all stay, as many of them wide as there is room for beside a proof and the load of one that becomes narrow, as
// long as narrow ones fit; then the narrow ones that leave room for two or one of the others.
func TestStayNarrow(t *testing.T) {
	for _, k := range []struct {
		limit int64
		stays string // w and n for keys that stay
		ahead bool
		need  int64
	}{
		{0, "wwwwww", true, 65},
		{65, "wwwwww", true, 65},
		{64, "nwnwnw", true, 60}, // 3*10 + 3*2 + 14 + 10
		{59, "nnwnnw", true, 52}, // 2*10 + 4*2 + 14 + 10
		{36, "nnnnnn", true, 36},
		{35, "nnnnnw", false, 34},
		{26, "nnnnnn", false, 26},
		{25, "------", true, 25},
		{24, "------", false, 15},
	} {
		m := &Memory{Parts: make([]PartMemory, 6)}
		for i := range m.Parts {
			f := &m.Parts[i].forms
			f[prover.Wide].key, f[prover.Wide].proof = 10, 5
			f[prover.Narrow].key, f[prover.Narrow].proof = 2, 14
		}
		d := DeviceMemory{Limit: k.limit, Parts: []int{0, 1, 2, 3, 4, 5}, narrows: true}
		m.stay(&d)
		stays := ""
		for _, p := range m.Parts {
			switch {
			case !p.Stays:
				stays += "-"
			case p.Form == prover.Narrow:
				stays += "n"
			default:
				stays += "w"
			}
		}
		if stays != k.stays || d.Ahead != k.ahead || d.Need != k.need {
			t.Errorf("%d bytes: %s, ahead %t, needs %d, expected %s, %t, %d", k.limit, stays, d.Ahead, d.Need, k.stays, k.ahead, k.need)
		}
	}
}

// cutAndProved cuts a program before the given operations, and makes keys and a proof of its parts on one device.
func cutAndProved(t *testing.T, d *device.Device, c *zkmltest.Case, opts *prover.SetupOptions, before ...int) (*chunks.Chain, []*prover.ProvingKey, *Result) {
	t.Helper()
	cutting, err := chunks.Cut(c.Program, c.Weights, before)
	if err != nil {
		t.Fatal(err)
	}
	chain, keys, err := Setup(devicetest.Queue(t, d), cutting, opts)
	if err != nil {
		t.Fatal(err)
	}
	made, err := Prove(t.Context(), []*device.Device{d}, chain, keys, c.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	return chain, keys, made
}

// TestLoaded proves a chain of five parts on one device whose memory holds all keys, some of them, two or one at a time, and on two and four
// devices: always the same bytes, and no device holds more than its budget (which the device sees to).
func TestLoaded(t *testing.T) {
	c := zkmltest.MLP(3, 2, 64, 128, 128, 128, 128, 64)
	one := devicetest.Open(t, "cpu")
	chain, keys, want := cutAndProved(t, one, c, nil, 3, 6, 9, 12)
	if err := chunks.Verify(chain, c.X, want.Y, want.Proof, nil); err != nil {
		t.Fatal(err)
	}
	plan, err := PlanMemory([]*device.Device{one}, keys)
	if err != nil {
		t.Fatal(err)
	}
	keyBytes, proof := int64(0), int64(0)
	for _, p := range plan.Parts {
		keyBytes, proof = max(keyBytes, p.Key), max(proof, p.Proof)
	}
	// The CPU takes more than the estimates, which are for GPUs: copies of weights, and tables that it folds.
	const beyond = 1 << 20
	for _, k := range []struct {
		name    string
		devices int
		room    int64 // keys that there is room for, 0 for no limit
		stay    int
		ahead   bool
	}{
		{"all", 1, 0, 5, true},
		{"some", 1, 4, 2, true},
		{"two", 1, 2, 0, true},
		{"one", 1, 1, 0, false},
		{"two devices", 2, 0, 5, true},
		{"four devices", 4, 0, 5, true},
	} {
		t.Run(k.name, func(t *testing.T) {
			for _, pk := range keys {
				pk.Forget()
			}
			devices := simulated(t, k.devices)
			defer devices[0].SetBudget(0)
			if k.room > 0 {
				devices[0].SetBudget(proof + k.room*keyBytes)
			}
			l, err := On(devices, chain, keys)
			if err != nil {
				t.Fatal(err)
			}
			if k.room > 0 {
				devices[0].SetBudget(proof + k.room*keyBytes*5/4 + beyond)
			}
			stay := 0
			for _, p := range l.Memory().Parts {
				if p.Stays {
					stay++
				}
			}
			lines := l.Memory().Lines(chain)
			if d := &l.Memory().Devices[0]; stay != k.stay || d.Ahead != k.ahead {
				t.Errorf("%d keys stay, ahead %t, expected %d, %t:\n%s", stay, d.Ahead, k.stay, k.ahead, strings.Join(lines, "\n"))
			}
			if stay < 5 != strings.Contains(lines[0], "the others are loaded") || len(lines) != k.devices+5 {
				t.Errorf("the plan is told as\n%s", strings.Join(lines, "\n"))
			}
			if err := l.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			for round := range 2 {
				got, err := l.Prove(t.Context(), c.X, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Proof.Encode(), want.Proof.Encode()) {
					t.Errorf("round %d: another proof", round)
				}
				loads := 0
				for _, p := range got.Parts {
					if p.Load > 0 {
						loads++
					}
				}
				if k.ahead && k.stay < 5 && loads == 0 {
					t.Errorf("round %d: nothing was loaded ahead", round)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := l.Prove(ctx, c.X, nil); err == nil {
				t.Error("a proof after its context ended")
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			for _, d := range devices {
				for _, pk := range keys {
					pk.Forget()
				}
				if n := d.InUse(); n != 0 {
					t.Errorf("%s still holds %d bytes", d.Name(), n)
				}
			}
			if _, err := l.Prove(t.Context(), c.X, nil); err == nil {
				t.Error("a proof after Close")
			}
		})
	}
	// A part that no device can hold is named, with the bytes that it needs.
	devices := simulated(t, 2)
	for _, d := range devices {
		d.SetBudget(keyBytes)
		defer d.SetBudget(0)
	}
	if _, err := Prove(t.Context(), devices, chain, keys, c.X, nil); err == nil || !strings.Contains(err.Error(), "part 1 of 5") || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("two devices that are too small: %v", err)
	}
}

// TestLoadedNarrow proves a chain on a device that has room for narrow keys only, with and without room to load one beside a proof: the same bytes,
// within the memory that was planned, with keys as narrow as planned between proofs.
func TestLoadedNarrow(t *testing.T) {
	c := zkmltest.MLP(3, 1, 32, 32, 32, 32)
	opts := &prover.SetupOptions{Commitment: whir.Options{UniqueOnly: true, FoldWork: whir.NoWork, QueryWork: whir.NoWork}}
	chain, keys, want := cutAndProved(t, devicetest.Open(t, "cpu"), c, opts, 3, 6)
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		devices := []*device.Device{d}
		wide, err := PlanMemory(devices, keys)
		if err != nil {
			t.Fatal(err)
		}
		keyBytes, proof, load := int64(0), int64(0), int64(0)
		for _, p := range wide.Parts {
			narrow := p.forms[prover.Narrow]
			keyBytes, proof, load = keyBytes+narrow.key, max(proof, narrow.proof), max(load, p.Key)
		}
		defer d.SetBudget(0)
		for _, ahead := range []bool{true, false} {
			room := keyBytes + proof
			if ahead {
				room += load
			}
			d.SetBudget(room)
			l, err := On(devices, chain, keys)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Join(l.Memory().Lines(chain), "\n")
			if m := &l.Memory().Devices[0]; m.Ahead != ahead || m.Need != room || !strings.Contains(lines, "3 keys stay, 3 of them narrow") || strings.Count(lines, "narrow between proofs") != 3 {
				t.Errorf("ahead %t, %d bytes of %d:\n%s", m.Ahead, m.Need, room, lines)
			}
			once, err := Once(devices, chain, keys)
			if err != nil {
				t.Fatal(err)
			}
			for k, p := range once.Memory().Parts {
				if p.Form != prover.Wide {
					t.Errorf("part %d is narrow for a single proof", k+1)
				}
			}
			d.SetBudget(d.InUse() + room + 1<<20) // sums of parts, and what every device keeps
			if ahead {
				if err := l.Load(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for round := range 2 {
				got, err := l.Prove(t.Context(), c.X, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Proof.Encode(), want.Proof.Encode()) {
					t.Errorf("round %d: another proof", round)
				}
				for k, r := range l.keys {
					if r.Bytes() != l.Memory().Parts[k].Key {
						t.Errorf("round %d: %d bytes of a key, planned %d", round, r.Bytes(), l.Memory().Parts[k].Key)
					}
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestSetupOn makes the keys of parts on several queues, with room for one at a time: they are those of a single queue.
func TestSetupOn(t *testing.T) {
	c := zkmltest.MLP(3, 2, 64, 128, 128, 64)
	cutting, err := chunks.Cut(c.Program, c.Weights, []int{3, 6})
	if err != nil {
		t.Fatal(err)
	}
	d := devicetest.Open(t, "cpu")
	one, _, err := Setup(devicetest.Queue(t, d), cutting, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.SetBudget(0)
	for _, budget := range []int64{0, 6 << 20} {
		d.SetBudget(budget)
		several, keys, err := SetupOn([]*device.Queue{devicetest.Queue(t, d), devicetest.Queue(t, d), devicetest.Queue(t, d)}, cutting, nil)
		if err != nil {
			t.Fatal(err)
		}
		if several.Digest() != one.Digest() || len(keys) != 3 {
			t.Errorf("%d bytes: other keys", budget)
		}
		for _, pk := range keys {
			pk.Forget()
		}
	}
	d.SetBudget(1 << 16)
	if _, _, err := SetupOn([]*device.Queue{devicetest.Queue(t, d), devicetest.Queue(t, d)}, cutting, nil); err == nil || !strings.Contains(err.Error(), "part 1 of 3") {
		t.Errorf("with no room for any: %v", err)
	}
}
