package m31

import "github.com/zkwarp/zkwarp/field"

// BatchInverse writes 1/src[i] to dst[i], and 0 where src[i] is 0. The slices
// have one length and may be the same.
func BatchInverse(dst, src []Element) { field.BatchInverse(dst, src) }

// BatchInverseCM31 is BatchInverse for CM31.
func BatchInverseCM31(dst, src []CM31) { field.BatchInverse(dst, src) }

// BatchInverseQM31 is BatchInverse for QM31.
func BatchInverseQM31(dst, src []QM31) { field.BatchInverse(dst, src) }
