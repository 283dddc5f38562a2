package prover

import (
	"math/bits"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
)

// onHost is the run on the CPU.
func (r *stacksRun) onHost() error {
	if err := r.hostRows(); err != nil {
		return err
	}
	if r.first == 0 {
		b := newHost(r.q, r.tr, r.rest(), r.n, 2, r.out)
		return rounds(b, r.values, r.n)
	}
	if err := r.hostFold(); err != nil {
		return err
	}
	weights, err := r.hostRounds()
	if err != nil {
		return err
	}
	if err := r.hostBind(); err != nil {
		return err
	}
	b := newHost(r.q, r.tr, r.rest(), r.n-r.first, 2, r.tail())
	b.weights = weights // of the claims it needs those of stacks that join later alone
	return rounds(b, r.values, r.n-r.first)
}

// at is a table of a run as the host has it.
func (r *stacksRun) at(place, vars int) []m31.QM31 { return r.table(place, vars).Host() }

// reversed is the index x of vars bits with the first bit last.
func reversed(x, vars int) int { return int(bits.Reverse64(uint64(x)) >> (64 - vars)) }

// hostRows makes weights and words of rows with claims on parts of them.
func (r *stacksRun) hostRows() error {
	factors := r.factors.Host()
	for i := range r.stacks {
		st := &r.stacks[i]
		words := r.words[i].Host()
		size := 1 << st.row
		weight := make([]m31.QM31, size)
		for k := range st.rows {
			row := &st.rows[k]
			clear(weight)
			for _, c := range row.claims {
				part := weight[c.at-row.at<<st.row:]
				low, high := factors[c.low:c.low+1<<c.bits], factors[c.high:c.high+1<<(c.vars-c.bits)]
				if err := r.q.Parallel(len(high), max(1, 4096/len(low)), func(from, to int) {
					for h := from; h < to; h++ {
						m31.MulAddQM31(part[h*len(low):(h+1)*len(low)], low, high[h])
					}
				}); err != nil {
					return err
				}
			}
			in := &row.instance
			w, f := r.at(in.weight, st.row), r.at(in.words, st.row)
			source := words[row.at*size : (row.at+1)*size]
			if err := r.q.Parallel(size, 4096, func(from, to int) {
				for x := from; x < to; x++ {
					y := reversed(x, st.row)
					w[x], f[x] = weight[y], m31.Lift(source[y])
				}
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	// narrowRow is the variables of a row below which its entries are summed one by one.
	narrowRow = 7
	// foldWords is the words that are summed at a time: few pages of memory, and many
	// for each addition of the sums.
	foldWords = 1 << 18
)

// foldTask is some rows of a claim on whole rows.
type foldTask struct {
	*foldClaim
	stack, from, to int
}

// hostFold sums the rows times the claims' weights.
func (r *stacksRun) hostFold() error {
	// In the rows' order, then in that of reversed indices.
	sums := make([][]m31.QM31, len(r.instances))
	for g := range r.instances {
		if in := &r.instances[g]; in.factor {
			sums[g] = r.at(in.sums, in.vars)
		}
	}
	var tasks []foldTask
	for i := range r.stacks {
		st := &r.stacks[i]
		step := max(8, foldWords>>st.row)
		for k := range st.folds {
			for h := 0; h < st.folds[k].rows; h += step {
				tasks = append(tasks, foldTask{&st.folds[k], i, h, min(h+step, st.folds[k].rows)})
			}
		}
	}
	var mu sync.Mutex
	if err := r.q.Parallel(len(tasks), 1, func(from, to int) {
		var part, eight []m31.QM31
		for _, t := range tasks[from:to] {
			n := 1 << r.stacks[t.stack].row
			if len(part) < n {
				part, eight = make([]m31.QM31, n), make([]m31.QM31, n)
			}
			r.foldRows(&t, part[:n], eight[:n])
			mu.Lock()
			sum := sums[t.instance]
			m31.AddVecQM31(sum, sum, part[:n])
			mu.Unlock()
		}
	}); err != nil {
		return err
	}
	for g, s := range sums {
		in := &r.instances[g]
		to := r.at(in.words, in.vars)
		for x := range s {
			to[x] = s[reversed(x, in.vars)]
		}
	}
	return nil
}

// foldRows leaves what a task's rows add up to, eight at a time.
func (r *stacksRun) foldRows(t *foldTask, sum, eight []m31.QM31) {
	row := r.stacks[t.stack].row
	weights := r.factors.Host()[t.factor+t.from : t.factor+t.to]
	words := r.words[t.stack].Host()[(t.at+t.from)<<row : (t.at+t.to)<<row]
	if row < narrowRow {
		var s [1 << narrowRow]m31.BaseSum
		for h, w := range weights {
			for x, v := range words[h<<row : (h+1)<<row] {
				s[x].Add(v, w)
			}
		}
		for x := range sum {
			sum[x] = s[x].Value()
		}
		return
	}
	clear(sum)
	for len(weights) >= 8 {
		m31.CombineBase(eight, words, 1<<row, 0, (*[8]m31.QM31)(weights))
		m31.AddVecQM31(sum, sum, eight)
		weights, words = weights[8:], words[8<<row:]
	}
	for h, w := range weights {
		m31.MulAddBase(sum, words[h<<row:(h+1)<<row], w)
	}
}

// hostRounds does the rounds on rows. It returns the batching coefficients.
func (r *stacksRun) hostRounds() (weights []m31.QM31, err error) {
	scratch, err := device.Alloc[m31.QM31](r.q, 1)
	if err != nil {
		return nil, err
	}
	defer scratch.Free()
	if err := r.tr.AbsorbChallenge(device.View[m31.Element](r.values), scratch); err != nil {
		return nil, err
	}
	weights = powers(scratch.Host()[0], len(r.stacks))
	pairs := make([][2][]m31.QM31, len(r.instances))
	for g := range r.instances {
		in := r.instance(&r.instances[g])
		// Tables of eq are read once more by others: they are folded elsewhere.
		pairs[g] = [2][]m31.QM31{in.Tables[0].Ext.Host(), append([]m31.QM31(nil), in.Tables[1].Ext.Host()...)}
	}
	head := r.head()
	for i := range r.first {
		message := head.Rounds.Slice(2*i, 2*i+2)
		if err := r.hostMessage(i, weights, pairs, message.Host()); err != nil {
			return nil, err
		}
		challenge := head.Point.Slice(i, i+1)
		if err := r.tr.AbsorbChallenge(device.View[m31.Element](message), challenge); err != nil {
			return nil, err
		}
		c := challenge.Host()[0]
		if err := r.q.Parallel(len(pairs), 1, func(from, to int) {
			for g := from; g < to; g++ {
				if i < r.first-r.instances[g].vars {
					continue
				}
				for k, t := range pairs[g] {
					half := len(t) / 2
					m31.FoldQM31(t[:half], t[:half], t[half:], c)
					pairs[g][k] = t[:half]
				}
			}
		}); err != nil {
			return nil, err
		}
	}
	for g := range pairs {
		head.Evals.Host()[2*g], head.Evals.Host()[2*g+1] = pairs[g][0][0], pairs[g][1][0]
	}
	return weights, nil
}

// hostMessage is the round polynomial at 0 and 2.
func (r *stacksRun) hostMessage(round int, weights []m31.QM31, pairs [][2][]m31.QM31, message []m31.QM31) error {
	var zero, two m31.QM31
	for i := range r.stacks {
		if vars := r.stacks[i].Vars; vars < r.n-round { // it joins later
			v := r.values.Host()[i].Mul(weights[i])
			for range r.n - 1 - round - vars {
				v = v.Double()
			}
			zero, two = zero.Add(v), two.Add(v)
		}
	}
	var mu sync.Mutex
	err := r.q.Parallel(len(pairs), 1, func(from, to int) {
		for g := from; g < to; g++ {
			in := &r.instances[g]
			if round < r.first-in.vars {
				continue
			}
			f, w := pairs[g][0], pairs[g][1]
			half := len(f) / 2
			a, b := m31.DotQM31(f[:half], w[:half]), m31.DotQM31AtTwo(f[:half], f[half:], w[:half], w[half:])
			mu.Lock()
			zero, two = zero.Add(a.Mul(weights[in.stack])), two.Add(b.Mul(weights[in.stack]))
			mu.Unlock()
		}
	})
	message[0], message[1] = zero, two
	return err
}

// hostBind binds the variables of rows in words and weights.
func (r *stacksRun) hostBind() error {
	head, factors := r.head(), r.factors.Host()
	for i := range r.stacks {
		st := &r.stacks[i]
		if !st.large() {
			continue
		}
		// The last challenge belongs to the highest bit of an entry's index in its row.
		point := make([]m31.QM31, st.row)
		for k := range point {
			point[k] = head.Point.Host()[r.first-1-k]
		}
		eq := mle.EqTable(point)
		words, bound, weight := r.words[i].Host(), r.at(st.words, r.high), r.at(st.weight, r.high)
		rows := (st.Used + 1<<st.row - 1) >> st.row
		if err := r.q.Parallel(rows, max(1, 1<<13>>st.row), func(from, to int) {
			for h := from; h < to; h++ {
				bound[reversed(h, r.high)] = m31.DotBase(words[h<<st.row:(h+1)<<st.row], eq)
			}
		}); err != nil {
			return err
		}
		clear(weight)
		for _, c := range st.folds {
			v := head.Evals.Host()[2*c.instance+1]
			for h, w := range factors[c.factor : c.factor+c.rows] {
				at := reversed(c.at+h, r.high)
				weight[at] = weight[at].Add(v.Mul(w))
			}
		}
		for _, row := range st.rows {
			at := reversed(row.at, r.high)
			weight[at] = weight[at].Add(head.Evals.Host()[2*row.number+1])
		}
	}
	return nil
}
