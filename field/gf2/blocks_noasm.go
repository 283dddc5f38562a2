//go:build !amd64 || purego

package gf2

func hasCarryless() bool { return false }

func carryless(Polyval, Polyval) (r Polyval, ok bool) { return r, false }

func mulBlocks(*Polyval, *Polyval, *Polyval, int) int { return 0 }

func scaleBlocks(*Polyval, *Polyval, *Polyval, int) int { return 0 }

func mulAddBlocks(*Polyval, *Polyval, *Polyval, int) int { return 0 }

func foldBlocks(*Polyval, *Polyval, *Polyval, *Polyval, int) int { return 0 }

func dotBlocks(*dotSums, *Polyval, *Polyval, int) int { return 0 }

func applyBlocks[D, S Words]([]D, [][]S, []*Matrix, *blocks) int { return 0 }
