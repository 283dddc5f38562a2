//go:build !amd64 || purego

package gf2

import "testing"

func eachVariant(t *testing.T, f func(t *testing.T))   { t.Run("generic", f) }
func eachVariantOf(b *testing.B, f func(b *testing.B)) { b.Run("generic", f) }
