package prover

import "github.com/zkwarp/zkwarp/device/kernel"

// Sources are the package's kernels.
func Sources() []*kernel.Source {
	return append(DefaultSources(), bdtSources()...)
}

// DefaultSources are those that the default algorithm and the operations on tables launch,
// to preload them.
func DefaultSources() []*kernel.Source {
	return []*kernel.Source{windowSource, finishSource, secondSource, foldSource, maskSource, tablesSource, tailSource, pointsSource}
}
