package setup_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/groth16"
	"github.com/zkwarp/zkwarp/gnark/internal/setup"
	"github.com/zkwarp/zkwarp/gnark/internal/synthetic"
)

// BenchmarkSetup makes keys of synthetic systems of 2^18 to 2^24 constraints, and of the
// 77.7 million of the largest that is measured, and proves with them; the seconds of
// stages go to the log. A million constraints take about 0.7 GiB of the host.
func BenchmarkSetup(b *testing.B) {
	dev, err := device.Open("auto")
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1 << 18, 1 << 20, 1 << 22, 1 << 24, 77689757} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if dev.Kind() != device.CUDA && n > 1<<18 {
				b.Skip("no GPU")
			}
			ctx := context.Background()
			ccs, full, err := synthetic.New(ctx, synthetic.Options{Constraints: n, Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			log := slog.New(slog.NewTextHandler(os.Stderr, nil))
			for b.Loop() {
				pk, vk, err := setup.Run(ctx, ccs, setup.Options{Random: seeded(1), Log: log, NoTables: n > 1<<24})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if n <= 1<<22 {
					p, err := groth16.NewProver(pk, groth16.WithVerifyingKey(vk))
					if err != nil {
						b.Fatal(err)
					}
					if _, err := p.Prove(ctx, ccs, full); err != nil {
						b.Fatal(err)
					}
					p.Close()
				}
				b.StartTimer()
			}
		})
	}
}
