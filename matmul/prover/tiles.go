package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
)

// MinTile is the smallest tile of the inner dimension.
const MinTile = 64

// TileError says that even the smallest tile does not fit the memory budget. It
// is a device.ErrNoMemory.
type TileError struct {
	Tile      int   // entries of the inner dimension
	Bytes     int64 // what they need
	Available int64 // what the budget leaves
}

func (e *TileError) Error() string {
	return fmt.Sprintf("a tile of %d entries of the inner dimension needs %d bytes, the memory budget leaves %d (raise --memory-budget or %s)",
		e.Tile, e.Bytes, e.Available, device.EnvBudget)
}

// Unwrap returns device.ErrNoMemory.
func (e *TileError) Unwrap() error { return device.ErrNoMemory }

// TilesFor is the tile of an inner dimension of k entries for which the bytes
// needed, as need says, are available: k itself if it fits, else the largest of
// k/2, k/4, ..., each rounded up to a multiple of MinTile. The error is a
// *TileError.
func TilesFor(k int, need func(tile int) int64, available int64) (tile int, err error) {
	for tile = k; ; tile = (tile/2 + MinTile - 1) / MinTile * MinTile {
		bytes := need(tile)
		if bytes <= available {
			return tile, nil
		}
		if tile <= MinTile {
			return 0, &TileError{Tile: tile, Bytes: bytes, Available: available}
		}
	}
}
