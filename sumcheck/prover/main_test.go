package prover_test

import (
	"testing"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
)

func TestMain(m *testing.M) {
	sources := prover.Sources()
	for _, e := range sumchecktest.Examples() {
		sources = append(sources, prover.ExprSources(e)...)
	}
	devicetest.Main(m, sources...)
}
