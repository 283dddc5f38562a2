//go:build !purego

package m31

// matrix is multiplication by a QM31 element as a matrix of words between -P/2
// and P/2, in the order in which vector loops need it: of rows 0 and 2, then of
// 1 and 3, the columns (0, 2), (2, 0), (1, 3) and (3, 1).
type matrix [8][2]int64

func newMatrix(r QM31) *matrix {
	m, rows := new(matrix), multiplication(r)
	for k, c := range [4][2]int{{0, 2}, {2, 0}, {1, 3}, {3, 1}} {
		for i := range 2 {
			m[4*i+k] = [2]int64{rows[i][c[0]].Int(), rows[i+2][c[1]].Int()}
		}
	}
	return m
}
