package prover

import "github.com/zkwarp/zkwarp/device/kernel"

// Sources are the package's kernels.
func Sources() []*kernel.Source {
	return append([]*kernel.Source{windowSource, finishSource, secondSource, foldSource, maskSource, tablesSource, tailSource}, bdtSources()...)
}
