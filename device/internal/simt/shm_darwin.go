//go:build amd64 || arm64

package simt

import "os"

func anonymousFile() (*os.File, error) { return temporaryFile() }
