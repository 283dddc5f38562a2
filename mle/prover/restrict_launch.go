package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
)

// jobWords is the size of restrict.cu's mle_job.
const jobWords = 16

// segment is SEGMENT of restrict.cu: the most weights of a tile.
const segment = 2048

// A launch has enoughTiles tiles if they are of a size that pays for what a
// block does once, and otherwise one for each multiprocessor of a large card.
const (
	enoughTiles = 1056
	fewestTiles = 264
)

// restrictKernel is how one kernel divides matrices into tiles.
type restrictKernel struct {
	name  string
	side  Side
	bytes bool
	along int // results of a tile
	pays  int // weights of a tile of 128 KiB
}

var restrictKernels = [...]restrictKernel{
	{"mle_restrict_rows_bytes", Rows, true, 1024, 128},
	{"mle_restrict_rows_words", Rows, false, 256, 128},
	{"mle_restrict_cols_bytes", Columns, true, 256, 512},
	{"mle_restrict_cols_words", Columns, false, 256, 128},
}

// smallestTile is the fewest weights of a tile, a multiple of what all kernels
// do at a time.
const smallestTile = 64

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
		if total >= enoughTiles || tile <= k.pays && total >= fewestTiles || tile <= smallestTile {
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
			total += 4*int64(device.Blocks(r.results(), k.along)) + 8
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

// launchRestrictions does restrictions of matrices that are not empty.
func launchRestrictions(q *device.Queue, list []Restriction) error {
	type launch struct{ kernel, first, count, tiles int }
	type where struct{ parts, arrived int } // of a job, in the working memory
	var launches []launch
	words := make([]uint64, 0, (jobWords+1)*len(list))
	var at []where
	parts, arrived := 0, 0 // elements; counters
	for i, k := range restrictKernels {
		mine := k.of(list)
		if len(mine) == 0 {
			continue
		}
		tile := k.tile(mine)
		l := launch{kernel: i, first: len(words) / jobWords, count: len(mine)}
		for _, r := range mine {
			used, splits := r.results(), device.Blocks(r.combined(), tile)
			across := device.Blocks(used, k.along)
			a, align := r.Words.Address()|r.Bytes.Address(), 4*r.Cols
			if k.bytes {
				align = r.Cols
			}
			words = append(words, a, r.Weights.Address(), r.Point.Address(), r.Out.Address(), r.Out.Address(), 0,
				uint64(r.Rows), uint64(r.Cols), uint64(r.Point.Len()), uint64(tile), uint64(across), uint64(l.tiles),
				uint64(used), uint64(r.Out.Len()), uint64(splits), flag((a|uint64(align))%16 == 0))
			l.tiles += k.tiles(r, tile)
			at = append(at, where{parts, arrived})
			if splits > 1 {
				parts += used * splits
				arrived += across
			}
		}
		launches = append(launches, l)
	}
	// One allocation for shares, descriptors and, as zeros behind them, counters.
	count := len(words)
	words = append(words, make([]uint64, (arrived+1)/2)...)
	work, err := device.Alloc[uint64](q, 2*parts+len(words))
	if err != nil {
		return fmt.Errorf("mle: restrict: %w", err)
	}
	defer work.Free()
	jobs := work.Slice(2*parts, work.Len())
	counters := device.View[uint32](jobs.Slice(count, jobs.Len()))
	for j, w := range at {
		if job := words[j*jobWords:]; job[14] > 1 {
			job[3], job[5] = work.Slice(2*w.parts, 2*parts).Address(), counters.Slice(w.arrived, counters.Len()).Address()
		}
	}
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
	return nil
}
