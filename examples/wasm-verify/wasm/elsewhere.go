//go:build !(js && wasm)

// Command wasm is for browsers: build it with GOOS=js GOARCH=wasm.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "this program runs in a browser: build it with GOOS=js GOARCH=wasm, or run ./examples/wasm-verify")
	os.Exit(2)
}
