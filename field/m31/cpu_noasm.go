//go:build !(amd64 || arm64) || purego

package m31

// sumLanes is for machines with vectors.
func sumLanes() int { return 0 }
