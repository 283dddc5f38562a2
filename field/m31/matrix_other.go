//go:build !amd64 || purego

package m31

// matrix is multiplication by a QM31 element, column by column.
type matrix [4][4]Element

func newMatrix(r QM31) *matrix {
	m := new(matrix)
	for i, row := range multiplication(r) {
		for k, x := range row {
			m[k][i] = x
		}
	}
	return m
}
