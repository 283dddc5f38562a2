//go:build !amd64 || purego

package prover

import "github.com/zkwarp/zkwarp/field/gf2"

func maskedBlocks([]gf2.Element, []uint32) (s gf2.Element, n int) { return s, 0 }

func hasWindow() bool { return false }

func (w *windowBlock) windowAdd([]lanes, []gf2.Element, int) {}
