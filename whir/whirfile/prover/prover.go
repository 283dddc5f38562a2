// Package prover makes the files of package whirfile: it commits to tables of
// words, evaluates their polynomials, and opens them, on the device of a queue.
package prover

import (
	"fmt"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/whir/whirfile"
)

// Committed is tables with their commitment, ready to be opened. It keeps the
// tables.
type Committed struct {
	params *whirfile.Params
	tables backend
	took   time.Duration
}

// backend is committed tables of one scheme.
type backend interface {
	// commit to the tables, which are on the device.
	commit(q *device.Queue, p *whirfile.Params) error
	root() whirfile.Root
	free()
	// evaluate returns the values of all tables for a claim's kind and point.
	evaluate(c whirfile.Claim) ([]whirfile.Words, error)
	// open proves true claims and returns the encoded proof.
	open(q *device.Queue, claims []whirfile.Claim) ([]byte, error)
}

// Commit commits to p.Tables() tables of p.TableWords() canonical words, which
// must not change while the commitment is in use.
func Commit(q *device.Queue, p *whirfile.Params, tables ...[]uint32) (*Committed, error) {
	if len(tables) != p.Tables() {
		return nil, fmt.Errorf("whirfile: %d tables, want %d", len(tables), p.Tables())
	}
	for i, t := range tables {
		if err := p.CheckTable(t); err != nil {
			return nil, fmt.Errorf("whirfile: table %d: %w", i, err)
		}
	}
	upload, ok := backends()[p.Scheme().Name()]
	if !ok {
		return nil, fmt.Errorf("whirfile: no prover for %s", p.Scheme().Name())
	}
	b, err := upload(q, tables)
	if err != nil {
		return nil, err
	}
	if err := q.Sync(); err != nil {
		b.free()
		return nil, err
	}
	start := time.Now()
	if err := b.commit(q, p); err != nil {
		b.free()
		return nil, err
	}
	return &Committed{p, b, time.Since(start)}, nil
}

// Took is the time of the commitment itself, once the tables were on the device.
func (c *Committed) Took() time.Duration { return c.took }

// Commitment for verifiers.
func (c *Committed) Commitment() *whirfile.Commitment {
	return &whirfile.Commitment{Params: c.params, Root: c.tables.root()}
}

// Free gives memory of the device back.
func (c *Committed) Free() { c.tables.free() }

// FalseClaim is the error for a claim that is not true of the tables.
type FalseClaim struct {
	Claim, Table int
	Said, Is     whirfile.Words
}

func (e *FalseClaim) Error() string {
	return fmt.Sprintf("claim %d is false: its value for table %d is %v, the table has %v", e.Claim, e.Table, []uint32(e.Said), []uint32(e.Is))
}

// Evaluate returns the claims with their values. Values that are there already
// must be right.
func (c *Committed) Evaluate(claims []whirfile.Claim) ([]whirfile.Claim, error) {
	out := append([]whirfile.Claim(nil), claims...)
	if err := c.params.CheckClaims(out, true); err != nil {
		return nil, err
	}
	for i := range out {
		values, err := c.tables.evaluate(out[i])
		if err != nil {
			return nil, fmt.Errorf("whirfile: claim %d: %w", i, err)
		}
		for j, said := range out[i].Values {
			for k, w := range said {
				if w != values[j][k] {
					return nil, &FalseClaim{i, j, said, values[j]}
				}
			}
		}
		out[i].Values = values
	}
	return out, nil
}

// Open proves claims with their values, as Evaluate returns them. The proof of a
// false claim is an error or does not verify.
func (c *Committed) Open(q *device.Queue, claims []whirfile.Claim) (*whirfile.Proof, error) {
	claims = append([]whirfile.Claim(nil), claims...)
	if err := c.params.CheckClaims(claims, false); err != nil {
		return nil, err
	}
	body, err := c.tables.open(q, claims)
	if err != nil {
		return nil, err
	}
	return &whirfile.Proof{Params: c.params.Digest(), Body: body}, nil
}
