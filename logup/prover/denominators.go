package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
)

// MaxColumns bounds the columns of Denominators.
const MaxColumns = 4

// ErrColumns is for columns that Denominators does not take.
var ErrColumns = errors.New("logup: columns")

// Denominators writes the denominators of looked-up rows,
//
//	out[x] = weights[0] - weights[1]*columns[0][x] - weights[2]*columns[1][x] - ...
//
// where weights are on the device, one more than columns: alpha and then the
// powers 1, beta, ... for rows that beta combines. Columns are 1 to MaxColumns,
// as long as out; ErrColumns says otherwise. It moves 16 bytes a row and 4 more
// for each column.
func Denominators(q *device.Queue, out, weights device.Buffer[m31.QM31], columns ...device.Buffer[m31.Element]) error {
	n := out.Len()
	if len(columns) == 0 || len(columns) > MaxColumns || weights.Len() != len(columns)+1 {
		return fmt.Errorf("%w: %d with %d weights, want 1 to %d and one weight more", ErrColumns, len(columns), weights.Len(), MaxColumns)
	}
	for j, c := range columns {
		if err := c.Use(q); err != nil {
			return fmt.Errorf("logup: column %d: %w", j, err)
		}
		if c.Len() != n {
			return fmt.Errorf("%w: column %d has %d rows, want %d", ErrColumns, j, c.Len(), n)
		}
	}
	if err := errors.Join(out.Use(q), weights.Use(q)); err != nil || n == 0 {
		return err
	}
	if !q.OnHost() {
		args := []device.Arg{out.Arg(), weights.Arg(), device.Null(), device.Null(), device.Null(), device.Null(), device.U64(n)}
		for j, c := range columns {
			args[2+j] = c.Arg()
		}
		return q.Launch(device.Kernel{Source: Source, Name: "logup_denominators"}, device.D1(device.Blocks(n, threads)), device.D1(threads), 0, args...)
	}
	w, d := weights.Host(), out.Host()
	return q.Parallel(n, 4096, func(lo, hi int) {
		for x := lo; x < hi; x++ {
			v := w[0]
			for j, c := range columns {
				v = v.Sub(w[j+1].MulBase(c.Host()[x]))
			}
			d[x] = v
		}
	})
}
