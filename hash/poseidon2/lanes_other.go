//go:build !amd64 || purego

package poseidon2

import "github.com/zkwarp/zkwarp/field/m31"

const hasLanes = false

func permuteLanes16(*[16][8]m31.Element, *uint32) {}

func permuteLanes24(*[24][8]m31.Element, *uint32) {}
