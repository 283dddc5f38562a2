//go:build !(amd64 || arm64) || purego

package m31

import "testing"

func eachVariant(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	f(t)
}

func eachVariantOf(b *testing.B, f func(b *testing.B)) { f(b) }
