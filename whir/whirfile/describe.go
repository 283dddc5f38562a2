package whirfile

import (
	"fmt"

	"github.com/zkwarp/zkwarp/whir"
)

// Description is parameters for people and for JSON.
type Description struct {
	Scheme string `json:"scheme"`
	About  string `json:"about"`
	Hash   string `json:"hash"`
	// Vars is log2 of the entries of a table, Tables how many there are.
	Vars   int `json:"vars"`
	Tables int `json:"tables"`
	Claims int `json:"claims"`
	Arity  int `json:"arity"`
	// Lambda is the bits that every line reaches.
	Lambda int    `json:"lambda"`
	Bound  string `json:"bound"`
	// BatchWork is the work before several tables are combined.
	BatchWork int     `json:"batch_work,omitempty"`
	Rounds    []Round `json:"rounds"`
	// FinalVars is log2 of the length of the table sent in full.
	FinalVars int     `json:"final_vars"`
	Lines     []Line  `json:"security"`
	Min       float64 `json:"bits"`
	Sum       float64 `json:"bits_sum"`
	Digest    string  `json:"parameters_digest"`
}

// Line is a line of the security table.
type Line struct {
	Name string  `json:"name"`
	Bits float64 `json:"bits"`
	Note string  `json:"note"`
}

// Round is one folding round.
type Round struct {
	Vars       int    `json:"vars"` // of the table that is committed
	Fold       int    `json:"fold"`
	Shrink     int    `json:"shrink"`
	LogInvRate int    `json:"log_inv_rate"`
	LogLeaves  int    `json:"log_leaves"`
	RowWords   int    `json:"row_words"`
	Regime     string `json:"regime"`
	Samples    int    `json:"samples"`
	Queries    int    `json:"queries"`
	FoldWork   int    `json:"fold_work"`
	QueryWork  int    `json:"query_work"`
}

// Describe describes parameters.
func (p *Params) Describe() *Description {
	c, digest, report := p.inner.Config(), p.Digest(), p.inner.Security()
	d := &Description{
		Scheme: p.scheme.Name(), About: p.scheme.About, Hash: p.scheme.Hash, Vars: p.Vars(), Tables: p.Tables(), Claims: p.Claims(),
		Arity: c.Arity, Lambda: c.Lambda, Bound: c.Bound.String(), BatchWork: c.BatchWork, FinalVars: p.inner.RoundVars(p.inner.Rounds()),
		Min: report.Min, Sum: report.Sum, Digest: fmt.Sprintf("%x", digest),
	}
	for _, l := range report.Lines {
		d.Lines = append(d.Lines, Line(l))
	}
	for i, r := range c.Rounds {
		regime := "unique"
		if r.Multiplicity != whir.Unique {
			regime = fmt.Sprintf("Johnson %d", r.Multiplicity)
		}
		m := p.inner.RoundVars(i)
		d.Rounds = append(d.Rounds, Round{
			Vars: m, Fold: r.Fold, Shrink: r.Shrink, LogInvRate: p.inner.LogLeaves(i) + r.Fold - m, LogLeaves: p.inner.LogLeaves(i), RowWords: p.inner.RowWords(i),
			Regime: regime, Samples: r.Samples, Queries: r.Queries, FoldWork: r.FoldWork, QueryWork: r.QueryWork,
		})
	}
	return d
}
