package prover

import "github.com/zkwarp/zkwarp/device/kernel"

// Sources are the package's kernels.
func Sources() []*kernel.Source {
	return []*kernel.Source{windowSource, foldSource, tablesSource}
}
