// Command wasm-verify serves pages that verify in the browser: what networks
// answered, and WHIR openings, which it makes there too.
//
//	go run ./examples/wasm-verify              # then open http://localhost:8787
//	go run ./examples/wasm-verify --out site   # the page as files, for any web server
//
// It builds the program for the browser with the Go toolchain at hand:
//
//	GOOS=js GOARCH=wasm go build -trimpath -ldflags "-s -w" -o verify.wasm ./examples/wasm-verify/wasm
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

//go:embed page
var page embed.FS

func main() {
	addr := flag.String("addr", "localhost:8787", "where to serve the page")
	out := flag.String("out", "", "write the page into this folder instead of serving it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *addr, *out); err != nil {
		log.Fatal("wasm-verify: ", err)
	}
}

func run(ctx context.Context, addr, out string) error {
	dir := out
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "wasm-verify-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	size, err := build(ctx, dir)
	if err != nil {
		return err
	}
	if out != "" {
		fmt.Printf("written: %s (verify.wasm: %.1f MiB)\n", out, float64(size)/(1<<20))
		return nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s (verify.wasm: %.1f MiB)\n", l.Addr(), float64(size)/(1<<20))
	return serve(ctx, l, dir)
}

// serve serves the folder until the context ends.
func serve(ctx context.Context, l net.Listener, dir string) error {
	s := &http.Server{Handler: headers(http.FileServer(http.Dir(dir))), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { s.Close() }) //nolint:errcheck // the program ends
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// headers lets nobody cache an older build, or embed the page.
func headers(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
		h.ServeHTTP(w, r)
	})
}

// build puts the page, Go's glue for it and the program into a folder, and
// returns the program's size.
func build(ctx context.Context, dir string) (size int64, err error) {
	files, err := fs.Sub(page, "page")
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		data, err := fs.ReadFile(files, e.Name())
		if err != nil {
			return 0, err
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), data, 0o644); err != nil {
			return 0, err
		}
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return 0, fmt.Errorf("finding Go, which builds the program for the browser: %w", err)
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(dir, "wasm_exec.js"), glue, 0o644); err != nil {
		return 0, err
	}
	program, err := filepath.Abs(filepath.Join(dir, "verify.wasm"))
	if err != nil {
		return 0, err
	}
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "github.com/zkwarp/zkwarp/examples/wasm-verify/wasm")
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return 0, fmt.Errorf("building the program for the browser: %w", err)
	}
	info, err := os.Stat(program)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
