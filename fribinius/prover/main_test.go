package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/device/devicetest"
)

func TestMain(m *testing.M) { devicetest.Main(m, Sources()...) }
