//go:build !amd64 || purego

package prover

import "github.com/zkwarp/zkwarp/field/gf2"

func maskedBlocks[T gf2.Words]([]T, []uint32) (s gf2.Element, n int) { return s, 0 }

func batchBlocks([]gf2.Polyval, []gf2.Polyval, []uint32, int) int { return 0 }

func addBlocks[T gf2.Words]([]T, []T, []T) int { return 0 }

func hasVectors() bool { return false }

func (w *windowBlock) windowAdd([]lanes, []gf2.Element, int) {}
