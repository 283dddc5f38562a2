package prover_test

import (
	"testing"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/logup/prover"
)

func TestMain(m *testing.M) { devicetest.Main(m, prover.Source, prover.TailSource) }
