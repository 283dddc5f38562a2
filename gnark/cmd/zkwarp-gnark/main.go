// Command zkwarp-gnark proves circuits of gnark and of circom, from their files, and
// verifies such proofs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/zkwarp/zkwarp/gnark/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default action is back: a second one kills.
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
