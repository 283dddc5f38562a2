package merkle

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
)

// Layout says where the words of a matrix of Rows rows lie. Rows consist of
// symbols of Symbol words: 1 for M31, 2 for CM31, 4 for QM31.
//
// Row-major, word w of row r is at r*RowWords + w. Column-major, which is what a
// batch of transforms leaves behind, word k of symbol c of row r is at
// (c*Rows + r)*Symbol + k. In both the row read as words is the same list.
type Layout struct {
	Columns bool
	Symbol  int // of no consequence when row-major
}

// RowMajor is rows one after the other.
func RowMajor() Layout { return Layout{Symbol: 1} }

// ColumnMajor is columns of symbols one after the other.
func ColumnMajor(symbol int) Layout { return Layout{Columns: true, Symbol: symbol} }

// Check fails if words are not a matrix of that shape and layout.
func (l Layout) Check(s Shape, words int) error {
	if err := s.Check(); err != nil {
		return err
	}
	if l.Columns && (l.Symbol != 1 && l.Symbol != 2 && l.Symbol != 4 || s.RowWords%l.Symbol != 0) {
		return fmt.Errorf("%w: rows of %d words in symbols of %d", ErrShape, s.RowWords, l.Symbol)
	}
	if words/s.RowWords != s.Rows || words%s.RowWords != 0 {
		return fmt.Errorf("%w: %d words for %d rows of %d", ErrShape, words, s.Rows, s.RowWords)
	}
	return nil
}

// Row appends row r of the matrix to dst.
func (l Layout) Row(dst, words []m31.Element, s Shape, r int) []m31.Element {
	if !l.Columns {
		return append(dst, words[r*s.RowWords:(r+1)*s.RowWords]...)
	}
	for c := range s.RowWords / l.Symbol {
		at := (c*s.Rows + r) * l.Symbol
		dst = append(dst, words[at:at+l.Symbol]...)
	}
	return dst
}
