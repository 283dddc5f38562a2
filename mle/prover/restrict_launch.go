package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
)

// jobWords is the size of restrict.cu's mle_job.
const jobWords = 17

// segment is SEGMENT of restrict.cu: the most weights of a tile.
const segment = 2048

// enoughTiles keeps every multiprocessor of a large card busy: tiles get smaller
// as long as there are fewer, since each is some time in making its weights.
const enoughTiles = 320

// restrictKernel is how one kernel divides matrices into tiles.
type restrictKernel struct {
	name   string
	side   Side
	bytes  bool
	along  int // results of a tile
	fewest int // weights of the smallest tile
}

var restrictKernels = [...]restrictKernel{
	{"mle_restrict_rows_bytes", Rows, true, 1024, 64},
	{"mle_restrict_rows_words", Rows, false, 256, 64},
	{"mle_restrict_cols_bytes", Columns, true, 256, 256},
	{"mle_restrict_cols_words", Columns, false, 256, 256},
}

func (k restrictKernel) does(r Restriction) bool {
	return k.side == r.Side && k.bytes == (r.Bytes.Len() > 0)
}

func (k restrictKernel) tiles(r Restriction, tile int) int {
	return device.Blocks(r.results(), k.along) * device.Blocks(r.combined(), tile)
}

// tile is the number of weights of the tiles of all matrices in list.
func (k restrictKernel) tile(list []Restriction) int {
	for tile := segment; ; tile /= 2 {
		total := 0
		for _, r := range list {
			total += k.tiles(r, tile)
		}
		if total >= enoughTiles || tile <= k.fewest {
			return tile
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
			total += 16 * int64(r.results()) * int64(device.Blocks(r.combined(), k.tile([]Restriction{r})))
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

// launchRestrictions does restrictions of matrices that are not empty. A matrix
// with one tile's share a result gets its results at once; the shares of the
// others, and the zeros behind results, are mle_restrict_sum's.
func launchRestrictions(q *device.Queue, list []Restriction) error {
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
		tile := k.tile(mine)
		l := launch{kernel: i, first: len(words) / jobWords, count: len(mine)}
		for _, r := range mine {
			used, splits, lanes := r.results(), device.Blocks(r.combined(), tile), 1
			if splits > 16 {
				lanes = 8
			}
			a, align := r.Words.Address()|r.Bytes.Address(), 4*r.Cols
			if k.bytes {
				align = r.Cols
			}
			words = append(words, a, r.Weights.Address(), r.Point.Address(), r.Out.Address(), r.Out.Address(),
				uint64(r.Rows), uint64(r.Cols), uint64(r.Point.Len()), uint64(tile),
				uint64(device.Blocks(used, k.along)), uint64(l.tiles), uint64(used), uint64(r.Out.Len()), uint64(splits),
				uint64(sums), uint64(lanes), flag((a|uint64(align))%16 == 0))
			l.tiles += k.tiles(r, tile)
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
