//go:build !amd64 || purego

package prover

import "github.com/zkwarp/zkwarp/field/gf2"

func maskedBlocks[T gf2.Words]([]T, []uint32) (s gf2.Element, n int) { return s, 0 }

func hasVectors() bool { return false }

func applyMatrices([]gf2.Polyval, []gf2.Element, int, []uint64, []byte) {}

func (w *windowBlock) windowAdd([]lanes, []gf2.Element, int) {}
