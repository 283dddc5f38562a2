package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
)

// jobWords is the size of restrict.cu's mle_job.
const jobWords = 18

// segment is SEGMENT of restrict.cu: the most weights of a tile.
const segment = 2048

// enoughTiles keeps every multiprocessor of a large card busy: tiles get smaller
// as long as there are fewer, since each is some time in making its weights.
// From manyTiles on, tiles are larger than that.
const (
	enoughTiles = 320
	manyTiles   = 2112
)

// restrictKernel is how one kernel divides matrices into tiles.
type restrictKernel struct {
	name   string
	side   Side
	bytes  bool
	along  int // results of a tile, of one pass
	passes int // the most passes of a tile, which makes its weights once for all
	fewest int // weights of the smallest tile
}

var restrictKernels = [...]restrictKernel{
	{"mle_restrict_rows_bytes", Rows, true, 1024, 1, 64},
	{"mle_restrict_rows_words", Rows, false, 256, 1, 64},
	{"mle_restrict_cols_bytes", Columns, true, 256, 4, 256},
	{"mle_restrict_cols_words", Columns, false, 256, 4, 256},
}

func (k restrictKernel) does(r Restriction) bool {
	return k.side == r.Side && k.bytes == (r.Bytes.Len() > 0)
}

// division is how a launch divides matrices: results and weights of a tile.
type division struct{ along, tile int }

func (d division) tiles(r Restriction) int {
	return device.Blocks(r.results(), d.along) * device.Blocks(r.combined(), d.tile)
}

// divide chooses the division of the matrices in list.
func (k restrictKernel) divide(list []Restriction) division {
	d := division{k.along * k.passes, segment}
	for {
		total := 0
		for _, r := range list {
			total += d.tiles(r)
		}
		switch {
		case d.along > k.along:
			if total >= manyTiles {
				return d
			}
			d.along /= 2
		case total >= enoughTiles || d.tile <= k.fewest:
			return d
		default:
			d.tile /= 2
		}
	}
}

// RestrictScratch is the bytes of device memory that Restrict takes, besides
// what it is given, for one matrix of bytes or words of r's sizes and side. r's
// buffers are not looked at.
func RestrictScratch(r Restriction, bytes bool) int64 {
	if r.Rows == 0 || r.Cols == 0 {
		return 0
	}
	total := int64(8 * jobWords)
	for _, k := range restrictKernels {
		if k.side == r.Side && k.bytes == bytes {
			total += 16 * int64(r.results()) * int64(device.Blocks(r.combined(), k.divide([]Restriction{r}).tile))
		}
	}
	return total
}

func (k restrictKernel) of(list []Restriction) (mine []Restriction) {
	for _, r := range list {
		if k.does(r) {
			mine = append(mine, r)
		}
	}
	return mine
}

// launchRestrictions does restrictions of matrices that are not empty, divided as
// divide says. A matrix
// with one tile's share a result gets its results at once; the shares of the
// others, and the zeros behind results, are mle_restrict_sum's.
func launchRestrictions(q *device.Queue, list []Restriction, divide func(restrictKernel, []Restriction) division) error {
	type launch struct{ kernel, first, count, tiles int }
	var launches []launch
	words := make([]uint64, 0, jobWords*len(list))
	type share struct{ job, at int } // where a job's shares are
	var shares []share
	parts, sums := 0, 0 // elements; blocks of mle_restrict_sum
	for i, k := range restrictKernels {
		mine := k.of(list)
		if len(mine) == 0 {
			continue
		}
		d := divide(k, mine)
		l := launch{kernel: i, first: len(words) / jobWords, count: len(mine)}
		for _, r := range mine {
			used, splits, lanes := r.results(), device.Blocks(r.combined(), d.tile), 1
			if splits > 16 {
				lanes = 8
			}
			a, align := r.Words.Address()|r.Bytes.Address(), 4*r.Cols
			if k.bytes {
				align = r.Cols
			}
			words = append(words, a, r.Weights.Address(), r.Point.Address(), r.Out.Address(), r.Out.Address(),
				uint64(r.Rows), uint64(r.Cols), uint64(r.Point.Len()), uint64(d.tile),
				uint64(device.Blocks(used, d.along)), uint64(l.tiles), uint64(used), uint64(r.Out.Len()), uint64(splits),
				uint64(sums), uint64(lanes), flag((a|uint64(align))%16 == 0), uint64(d.along))
			l.tiles += d.tiles(r)
			if splits > 1 || used < r.Out.Len() {
				shares = append(shares, share{len(words)/jobWords - 1, parts})
				parts += used * splits
				sums += device.Blocks(r.Out.Len(), threads/lanes)
			}
		}
		launches = append(launches, l)
	}
	// One allocation for shares and descriptors.
	work, err := device.Alloc[uint64](q, 2*parts+len(words))
	if err != nil {
		return fmt.Errorf("mle: restrict: %w", err)
	}
	defer work.Free()
	for _, s := range shares {
		words[s.job*jobWords+3] = work.Slice(2*s.at, 2*parts).Address()
	}
	jobs := work.Slice(2*parts, work.Len())
	if err := jobs.CopyFrom(q, words); err != nil {
		return fmt.Errorf("mle: restrict: %w", err)
	}
	for _, l := range launches {
		name := restrictKernels[l.kernel].name
		err := q.Launch(device.Kernel{Source: RestrictSource, Name: name}, device.D1(l.tiles), device.D1(threads), 0,
			jobs.Slice(l.first*jobWords, (l.first+l.count)*jobWords).Arg(), device.U32(l.count))
		if err != nil {
			return err
		}
	}
	if sums == 0 {
		return nil
	}
	return q.Launch(device.Kernel{Source: RestrictSource, Name: "mle_restrict_sum"}, device.D1(sums), device.D1(threads), 0,
		jobs.Arg(), device.U32(len(list)))
}
