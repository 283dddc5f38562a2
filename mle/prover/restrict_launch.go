package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
)

// jobWords is the size of restrict.cu's mle_job.
const jobWords = 17

// segment is SEGMENT of restrict.cu: the most weights of a tile.
const segment = 2048

// enoughTiles keeps every multiprocessor of a large card busy to the end: tiles
// get smaller as long as there are fewer.
const enoughTiles = 1024

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
	{"mle_restrict_rows_words", Rows, false, 1024, 16},
	{"mle_restrict_cols_bytes", Columns, true, 512, 256},
	{"mle_restrict_cols_words", Columns, false, 128, 256},
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

// launchRestrictions does restrictions of matrices that are not empty.
func launchRestrictions(q *device.Queue, list []Restriction) error {
	type launch struct{ kernel, first, count, tiles int }
	var launches []launch
	words := make([]uint64, 0, jobWords*len(list))
	parts := 0 // elements
	var partsAt []int
	sums := 0 // blocks of mle_restrict_sum
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
			words = append(words, a, r.Weights.Address(), r.Point.Address(), 0, r.Out.Address(),
				uint64(r.Rows), uint64(r.Cols), uint64(r.Point.Len()), uint64(tile),
				uint64(device.Blocks(used, k.along)), uint64(l.tiles), uint64(used), uint64(r.Out.Len()), uint64(splits),
				uint64(sums), uint64(lanes), flag((a|uint64(align))%16 == 0))
			partsAt = append(partsAt, parts)
			parts += used * splits
			l.tiles += k.tiles(r, tile)
			sums += device.Blocks(r.Out.Len(), threads/lanes)
		}
		launches = append(launches, l)
	}
	shares, err := device.Alloc[m31.QM31](q, parts)
	if err != nil {
		return fmt.Errorf("mle: restrict: %w", err)
	}
	defer shares.Free()
	for j, at := range partsAt {
		words[j*jobWords+3] = shares.Slice(at, parts).Address()
	}
	jobs, err := device.Upload(q, words)
	if err != nil {
		return fmt.Errorf("mle: restrict: %w", err)
	}
	defer jobs.Free()
	for _, l := range launches {
		name := restrictKernels[l.kernel].name
		err := q.Launch(device.Kernel{Source: RestrictSource, Name: name}, device.D1(l.tiles), device.D1(threads), 0,
			jobs.Slice(l.first*jobWords, (l.first+l.count)*jobWords).Arg(), device.U32(l.count))
		if err != nil {
			return err
		}
	}
	return q.Launch(device.Kernel{Source: RestrictSource, Name: "mle_restrict_sum"}, device.D1(sums), device.D1(threads), 0,
		jobs.Arg(), device.U32(len(list)))
}
