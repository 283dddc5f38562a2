//go:build !amd64 || purego

package poseidon2

func (*bear) vectorLanes([]uint32) bool { return false }
