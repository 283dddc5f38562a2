package scalar

import "github.com/zkwarp/zkwarp/field/mont"

// NewSmall is New with tiles of 2^4 elements and tables of 2^logHigh, so that small
// transforms take many passes.
func NewSmall(field *mont.Field, log, logHigh int) (*Domain, error) {
	d, err := New(field, log)
	if err == nil {
		d.tune = tuning{logTile: 4, logHigh: logHigh}
	}
	return d, err
}
