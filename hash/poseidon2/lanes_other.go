//go:build !(amd64 || arm64) || purego

package poseidon2

import "github.com/zkwarp/zkwarp/field/m31"

func permuteLanes16(*[16][Lanes]m31.Element) bool { return false }

func permuteLanes24(*[24][Lanes]m31.Element) bool { return false }

func permute16(*[16]m31.Element) bool { return false }
