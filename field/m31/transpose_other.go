//go:build !amd64 || purego

package m31

func transpose8(*Element, *Element, int) bool { return false }
