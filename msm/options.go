package msm

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// Subgroup says what is known of the bases, for curves with a cofactor. Some formulas
// are faster and hold in the subgroup of prime order alone.
type Subgroup int

const (
	// Unchecked: formulas hold for all points of the curve. A point outside the
	// subgroup may count s - r times in place of s, for a scalar s and the order r; one
	// off the curve gives an undefined sum.
	Unchecked Subgroup = iota
	// Asserted: the caller knows that all bases are in the subgroup.
	Asserted
	// Verify: New checks all bases and fails on the first that is not in the subgroup.
	Verify
)

// Options are choices of New. The zero value is right for most.
type Options struct {
	// Devices, if there are any, share the work; each holds all bases. The device
	// that New is given does not count then.
	Devices []*device.Device
	// Tables is how many bytes of each device's memory precomputed multiples of the
	// bases may take besides the bases themselves.
	Tables int64
	// Subgroup says whether the bases are in the subgroup of prime order.
	Subgroup Subgroup
	// Check makes New fail on the first base that is not on the curve. Verify
	// includes it.
	Check bool
	// Window is the width of windows in bits, 2 to 26, and at least 3 for scalars of more
	// than 512 bits, as there are no more than 256 windows; 0 lets the cost model choose.
	Window int
	// Chunk is how many points are added at a time; 0 takes as many as fit the
	// devices' memory budgets.
	Chunk int
	// Serial does the steps of a sum one after the other and not side by side, so that
	// a trace tells what each of them takes. Sums are slower by it.
	Serial bool
	// Digits, if not nil, are those of other bases, of a group with the same scalars:
	// scalars that those prepare can be used for these too.
	Digits *Digits

	// given keeps the points in the form in which they are given: for another there is too
	// little memory.
	given bool

	// For tests:
	piece   int           // of points that are there in two forms at a time; 0 for 2^22
	groups  int           // of windows; 0 for what is thought best
	adder   int           // of points in buckets
	link    float64       // of all uploads, for tests; 0 for what it is
	windows *plan.Windows // for tests; nil for what is thought best
}

// checks says whether the bases are to be checked.
func (o *Options) checks() bool { return o.Check || o.Subgroup == Verify }

// formPiece is how many points are there in two forms at a time.
func (o *Options) formPiece() int {
	if o.piece > 0 {
		return o.piece
	}
	return 1 << 22
}

// whole says whether nothing keeps all points from being added at once, in the way that
// is thought best.
func (o *Options) whole() bool {
	return o.Chunk == 0 && o.groups == 0 && o.adder == adderBest && o.Tables == 0
}

func (o *Options) check() error {
	switch {
	case o.Tables < 0:
		return fmt.Errorf("msm: %w: %d bytes for tables", ErrInput, o.Tables)
	case o.Window != 0 && (o.Window < 2 || o.Window > plan.MaxBits):
		return fmt.Errorf("msm: %w: windows of %d bits, they have 2 to %d", ErrInput, o.Window, plan.MaxBits)
	case o.Chunk < 0:
		return fmt.Errorf("msm: %w: chunks of %d points", ErrInput, o.Chunk)
	case o.Subgroup < Unchecked || o.Subgroup > Verify:
		return fmt.Errorf("msm: %w: subgroup option %d", ErrInput, o.Subgroup)
	}
	for i, d := range o.Devices {
		if d == nil {
			return fmt.Errorf("msm: %w: device %d is nil", ErrInput, i)
		}
		if d.Kind() == device.CPU && len(o.Devices) > 1 {
			return fmt.Errorf("msm: %w: device %d is the CPU, which shares no work with others", ErrInput, i)
		}
	}
	return nil
}
