package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/llm"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
)

// cutFlags say whether a program is proved whole, in part or in parts.
type cutFlags struct {
	layers  string
	parts   int
	budget  float64 // GB
	given   bool    // the budget
	commits commitsFlags
}

func (f *cutFlags) register(c *cobra.Command) {
	layersFlag(c, &f.layers)
	c.Flags().IntVar(&f.parts, "parts", 0, "prove in parts, at most so many")
	c.Flags().Float64Var(&f.budget, "chunk-budget-gb", 0, "prove in parts that need at most so much device memory each, in GB")
}

func layersFlag(c *cobra.Command, layers *string) {
	c.Flags().StringVar(layers, "layers", "", "FROM:TO, a piece by itself; or several that adjoin, FROM:TO,TO:TO,..., the whole in parts (layers of a decoder, else operations as inspect numbers them)")
}

// check is for mistakes that need no model to be seen.
func (f *cutFlags) check(c *cobra.Command) error {
	f.given = c.Flags().Changed("chunk-budget-gb")
	ways := 0
	for _, set := range []bool{f.layers != "", f.parts != 0, f.given} {
		if set {
			ways++
		}
	}
	switch {
	case ways > 1:
		return usageError("pass only one of --layers, --parts and --chunk-budget-gb")
	case f.given && (!(f.budget > 0) || f.budget > 1e6):
		return usageError("--chunk-budget-gb %v: want a positive number", f.budget)
	case f.parts < 0 || f.parts > chunks.MaxParts:
		return usageError("--parts %d: want 1 to %d", f.parts, chunks.MaxParts)
	}
	_, err := parseLayers(f.layers)
	return err
}

// layers is a range [from, to) of layers.
type layers struct{ from, to int }

func (l layers) String() string { return fmt.Sprintf("%d:%d", l.from, l.to) }

// parseLayers reads ranges that adjoin, none if the text is empty.
func parseLayers(text string) ([]layers, error) {
	if text == "" {
		return nil, nil
	}
	var list []layers
	for _, part := range strings.Split(text, ",") {
		low, high, ok := strings.Cut(part, ":")
		from, errFrom := strconv.Atoi(low)
		to, errTo := strconv.Atoi(high)
		switch {
		case !ok || errFrom != nil || errTo != nil || from < 0 || to <= from:
			return nil, usageError("--layers %q: want FROM:TO, such as 0:4, which is the first four", part)
		case len(list) > 0 && list[len(list)-1].to != from:
			return nil, usageError("--layers %q: %s does not begin where %s ends", text, part, list[len(list)-1])
		}
		list = append(list, layers{from, to})
	}
	return list, nil
}

// numbering says where the layers of a program begin.
type numbering struct {
	start []int // start[i] is the position in Ops of layer first+i; the last is the number of operations
	first int
	what  string
}

// numberLayers numbers the layers of a decoder's program, which has the layers [span.from, span.to), or else its operations.
func numberLayers(p *graph.Program, decoder *layers) (*numbering, error) {
	if decoder == nil {
		n := &numbering{what: "operations"}
		for i := range len(p.Ops) + 1 {
			n.start = append(n.start, i)
		}
		return n, nil
	}
	at := map[string]int{}
	for i, op := range p.Ops {
		for _, id := range op.Outputs() {
			at[p.Tensor(id).Name] = i + 1
		}
	}
	n := &numbering{start: []int{0}, first: decoder.from, what: "layers"}
	for l := decoder.from + 1; l < decoder.to; l++ {
		i, ok := at[llm.HiddenName(l)]
		if !ok {
			return nil, fmt.Errorf("the program has no tensor %s, which layer %d begins with", llm.HiddenName(l), l)
		}
		n.start = append(n.start, i)
	}
	n.start = append(n.start, len(p.Ops))
	return n, nil
}

// position is where a layer begins.
func (n *numbering) position(layer int) (int, error) {
	if last := n.first + len(n.start) - 1; layer < n.first || layer > last {
		return 0, usageError("--layers: there is no %d, the program has %s %d:%d", layer, n.what, n.first, last)
	}
	return n.start[layer-n.first], nil
}

// pieces is what of a program is to be proved: all of it if before and piece are nil.
type pieces struct {
	before []int // where the program is cut in parts
	piece  []int // where the one piece begins and ends
	over   int64 // what the largest part needs where that is more than asked for
}

// split chooses where to cut.
func (f *cutFlags) split(p *graph.Program, w *graph.Weights, n *numbering, mode zkml.Mode, o whir.Options) (*pieces, error) {
	list, err := parseLayers(f.layers)
	switch {
	case err != nil:
		return nil, err
	case len(list) > 0:
		var at []int
		for i, l := range list {
			from, err := n.position(l.from)
			if err != nil {
				return nil, err
			}
			to, err := n.position(l.to)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				at = append(at, from)
			}
			at = append(at, to)
		}
		whole := at[0] == 0 && at[len(at)-1] == len(p.Ops)
		switch {
		case whole:
			return &pieces{before: at[1 : len(at)-1]}, nil
		case len(list) == 1:
			return &pieces{piece: at}, nil
		}
		return nil, usageError("--layers %s: several must be the whole, %s %d:%d", f.layers, n.what, n.first, n.first+len(n.start)-1)
	case f.parts > 1:
		before, err := planParts(p, f.parts, &f.commits)
		return &pieces{before: before}, withCode(ExitUnsupported, err)
	case f.given:
		before, over, err := planBudget(p, w, int64(f.budget*1e9), mode, o, &f.commits)
		return &pieces{before: before, over: over}, withCode(ExitUnsupported, err)
	}
	return &pieces{}, nil
}

// mostCommitted is what one proof can commit to.
const mostCommitted = 1 << 29

// committed is the number of committed entries of a program, which Plan divides.
func committed(p *graph.Program) (n int64) {
	for i := range p.Tensors {
		if t := &p.Tensors[i]; t.Kind == graph.Param || t.Kind == graph.Column {
			n += 1 << graph.Vars(t.Shape)
		}
	}
	return n
}

// planParts cuts a program in at most n parts whose largest is as small as can be.
func planParts(p *graph.Program, n int, commits *commitsFlags) (best []int, err error) {
	ends, err := commits.planned(p)
	if err != nil {
		return nil, err
	}
	low, high := int64(0), committed(p) // the limit that serves is in (low, high]
	for high-low > 1+high/64 {
		limit := low + (high-low)/2
		before, err := chunks.Plan(p, limit, ends)
		if err == nil && len(before) < n {
			best, high = before, limit
		} else {
			low = limit
		}
	}
	return best, nil
}

// margin is the share of the memory that parts are planned to fill.
const margin = 0.8

// planBudget cuts a program so that no part needs more than the budget, less a margin. Where that cannot be, the largest part is about as small as it
// can be, and over says how much it needs.
func planBudget(p *graph.Program, w *graph.Weights, budget int64, mode zkml.Mode, o whir.Options, commits *commitsFlags) (before []int, over int64, err error) {
	room := int64(margin * float64(budget))
	ends, err := commits.planned(p)
	if err != nil {
		return nil, 0, err
	}
	low, high := int64(0), committed(p) // limits that leave an operation over are up to low; before is for high, once it is set
	for limit, planned := high, false; ; {
		tried, err := chunks.Plan(p, limit, ends)
		if err != nil && !planned {
			return nil, 0, err
		}
		if err != nil {
			low = limit
		} else {
			most, err := largestPart(p, w, tried, room, mode, o, commits)
			if err != nil {
				most = math.MaxInt64 // beyond one commitment
			}
			if most <= room {
				return tried, 0, nil
			}
			before, over, high, planned = tried, most, limit, true
			limit = min(limit*7/8, int64(float64(limit)*max(0.25, float64(room)/float64(most))))
		}
		if limit <= low {
			limit = low + (high-low)/2
		}
		if high-low <= 1+high/64 {
			return before, over, nil
		}
	}
}

// largestPart is the memory of the part that needs most, as provers estimate it. One whose tensors and sums alone are beyond the room ends the search.
func largestPart(p *graph.Program, w *graph.Weights, before []int, room int64, mode zkml.Mode, o whir.Options, commits *commitsFlags) (most int64, err error) {
	cutting, err := chunks.Cut(p, w, before)
	if err != nil {
		return 0, err
	}
	if err := commits.cut(p, cutting); err != nil {
		return 0, err
	}
	security := chunks.PartSecurity(zkml.MinSecurity, len(cutting.Parts))
	for i := range cutting.Parts {
		q := cutting.Parts[i].Program
		cost, err := zkml.CostOf(q, mode, cutting.Parts[i].Commits, security, o)
		if err != nil {
			return 0, err
		}
		if most = max(most, partBytes(q, cost)); most > room {
			return most, nil
		}
	}
	for i := range cutting.Parts {
		part := &cutting.Parts[i]
		settings, err := zkml.Choose(part.Program, mode, part.Commits, security, o)
		if err != nil {
			return 0, err
		}
		digest, err := part.Weights.Digest(part.Program)
		if err != nil {
			return 0, err
		}
		vk, err := zkml.NewVerifyingKey(zkml.KeyParts{Program: part.Program, Mode: mode, Commits: part.Commits, WeightsDigest: digest, Settings: settings})
		if err != nil {
			return 0, err
		}
		pk, err := zkprover.NewProvingKey(vk, part.Weights)
		if err != nil {
			return 0, err
		}
		key, proof, err := pk.Memory()
		if err != nil {
			return 0, err
		}
		most = max(most, key+proof)
	}
	return most, nil
}

// partBytes estimates what proving a program takes.
func partBytes(p *graph.Program, c *zkml.Cost) int64 {
	n := c.Memory()
	for i := range p.Tensors {
		n += 4 << graph.Vars(p.Tensors[i].Shape)
	}
	return n
}

// pieceOf is the one piece of a program.
func pieceOf(p *graph.Program, w *graph.Weights, piece []int, commits *commitsFlags) (*setupPlan, error) {
	var before []int
	k := 0
	for _, at := range piece {
		if at > 0 && at < len(p.Ops) {
			before = append(before, at)
		}
	}
	if piece[0] > 0 {
		k = 1
	}
	c, err := chunks.Cut(p, w, before)
	if err != nil {
		return nil, withCode(ExitUnsupported, err)
	}
	if commits.boundaries {
		c.CommitBoundaries()
	}
	part := &c.Parts[k]
	return &setupPlan{program: part.Program, weights: part.Weights, commits: part.Commits}, nil
}
