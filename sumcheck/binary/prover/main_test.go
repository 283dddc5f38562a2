package prover_test

import (
	"testing"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/sumcheck/binary/prover"
)

func TestMain(m *testing.M) { devicetest.Main(m, prover.Sources()...) }
