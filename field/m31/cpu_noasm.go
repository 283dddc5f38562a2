//go:build !amd64 || purego

package m31

func sumLanes() int { return 0 }
