package circom

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"math/big"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

// faulty is a runner whose proofs are of other numbers than they should be.
type faulty struct{ runner }

func (f faulty) prove(ctx context.Context, w []Element, r, s *big.Int) (Proof, error) {
	p, err := f.runner.prove(ctx, w, r, s)
	if err == nil {
		p.A = p.C
	}
	return p, err
}

// failing is a runner that has an error.
type failing struct {
	runner
	err error
}

func (f failing) prove(context.Context, []Element, *big.Int, *big.Int) (Proof, error) {
	return Proof{}, f.err
}

// Where the choice of the device was the prover's the CPU helps a device that fails, else
// not, and never where the mistake is another.
func TestDeviceFails(t *testing.T) {
	key, err := OpenZKey("testdata/multiplier_bn128.zkey")
	if err != nil {
		t.Fatal(err)
	}
	w, err := OpenWitness("testdata/multiplier_bn128.wtns")
	if err != nil {
		t.Fatal(err)
	}
	run, err := key.provingKey.on(key, devicetest.Open(t, "cpu"))
	if err != nil {
		t.Fatal(err)
	}
	defer run.close()
	for _, c := range []struct {
		device string
		err    error
		helps  bool
	}{
		{"auto", device.ErrNoMemory, true}, {"auto", device.ErrFault, true}, {"auto", device.ErrUsage, false}, {"auto", context.Canceled, false},
		{"simt", device.ErrNoMemory, false}, {"simt", device.ErrFault, false},
	} {
		var log bytes.Buffer
		o := Options{Device: c.device, Rand: rand.Reader, Log: slog.New(slog.NewTextHandler(&log, nil))}
		p := &Prover{key: key, o: o, dev: devicetest.Open(t, "simt"), run: failing{run, c.err}}
		proof, err := p.Prove(t.Context(), w)
		if !c.helps {
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), "simt") || log.Len() > 0 {
				t.Errorf("%s, %v: %v; log %q", c.device, c.err, err, &log)
			}
			continue
		}
		if err == nil {
			err = Verify(key.VerifyingKey(), w.Public(key.NumPublic()), proof)
		}
		if err != nil || !strings.Contains(log.String(), c.err.Error()) {
			t.Errorf("%s, %v: %v; log %q", c.device, c.err, err, &log)
		}
	}
}

// A wrong proof of a device does not come out: the CPU makes it again, and the log says so.
func TestFaultOfDevice(t *testing.T) {
	key, err := OpenZKey("testdata/multiplier_bn128.zkey")
	if err != nil {
		t.Fatal(err)
	}
	w, err := OpenWitness("testdata/multiplier_bn128.wtns")
	if err != nil {
		t.Fatal(err)
	}
	run, err := key.provingKey.on(key, devicetest.Open(t, "cpu"))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o := Options{Rand: rand.Reader, Log: slog.New(slog.NewTextHandler(&log, nil))}
	p := &Prover{key: key, o: o, dev: devicetest.Open(t, "simt"), run: faulty{run}}
	defer p.Close()
	proof, err := p.Prove(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(key.VerifyingKey(), w.Public(key.NumPublic()), proof); err != nil {
		t.Error(err)
	}
	if s := log.String(); !strings.Contains(s, "simt") || !strings.Contains(s, "pairing equation") || !strings.Contains(s, "multiplier_bn128.zkey") {
		t.Errorf("log: %q", s)
	}

	// If it is the witness, nothing is logged; the CPU itself is not asked twice.
	log.Reset()
	w.Values[2] = Element{5}
	for _, dev := range []string{"simt", "cpu"} {
		p.dev = devicetest.Open(t, dev)
		if _, err := p.Prove(t.Context(), w); !errors.Is(err, ErrUnsatisfied) || !strings.Contains(err.Error(), "multiplier_bn128.zkey") {
			t.Errorf("%s: %v", dev, err)
		}
	}
	if log.Len() > 0 {
		t.Errorf("log: %q", &log)
	}
}
