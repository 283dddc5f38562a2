// Command zkwarp proves answers of neural networks and verifies such proofs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/zkwarp/zkwarp/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default action is back: a second one kills.
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Main(ctx, os.Args[1:], cli.Process()))
}
