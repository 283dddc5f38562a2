package merkle

import (
	"fmt"
	"math/bits"

	"github.com/zkwarp/zkwarp/field"
)

// Layout says where the words of a matrix of Rows rows lie. Rows consist of
// symbols of Symbol words: 1 for a prime field, 2 for CM31, 4 and 5 for quartic and
// quintic extensions.
//
// Row-major, word w of the row at index i is at i*RowWords + w. Column-major, which
// is what a batch of transforms leaves behind, word k of symbol c of the row at
// index i is at (c*Rows + i)*Symbol + k. In both the row read as words is the same
// list.
//
// Row r is at index r, or, if Reversed, at index Reverse(r), whose bits are those of
// r in reverse: transforms leave that order, too. A tree is over the rows in
// natural order either way, so the layout changes no digest.
type Layout struct {
	Columns  bool
	Symbol   int // of no consequence when row-major
	Reversed bool
}

// RowMajor is rows one after the other.
func RowMajor() Layout { return Layout{Symbol: 1} }

// ColumnMajor is columns of symbols one after the other.
func ColumnMajor(symbol int) Layout { return Layout{Columns: true, Symbol: symbol} }

// Reverse is l with the rows in bit-reversed order.
func (l Layout) Reverse() Layout {
	l.Reversed = true
	return l
}

// Check fails if words are not a matrix of that shape and layout.
func (l Layout) Check(s Shape, words int) error {
	if err := s.Check(); err != nil {
		return err
	}
	if l.Columns && (l.Symbol != 1 && l.Symbol != 2 && l.Symbol != 4 && l.Symbol != 5 || s.RowWords%l.Symbol != 0) {
		return fmt.Errorf("%w: rows of %d words in symbols of %d", ErrShape, s.RowWords, l.Symbol)
	}
	if words/s.RowWords != s.Rows || words%s.RowWords != 0 {
		return fmt.Errorf("%w: %d words for %d rows of %d", ErrShape, words, s.Rows, s.RowWords)
	}
	return nil
}

// Index is where row r of the matrix lies, and the row that lies at index r.
func (l Layout) Index(s Shape, r int) int {
	if !l.Reversed || s.Rows == 1 {
		return r
	}
	return int(bits.Reverse64(uint64(r)) >> bits.LeadingZeros64(uint64(s.Rows-1)))
}

// AppendRow appends row r of the matrix to dst.
func AppendRow[W field.Base[W]](dst, words []W, s Shape, l Layout, r int) []W {
	return matrix[W]{words, s, l}.append(dst, l.Index(s, r))
}

// matrix is words of a shape in a layout.
type matrix[W field.Base[W]] struct {
	words  []W
	shape  Shape
	layout Layout
}

// append appends the row at index i to dst.
func (m matrix[W]) append(dst []W, i int) []W {
	width, symbol := m.shape.RowWords, m.layout.Symbol
	if !m.layout.Columns {
		return append(dst, m.words[i*width:(i+1)*width]...)
	}
	for c := range width / symbol {
		at := (c*m.shape.Rows + i) * symbol
		dst = append(dst, m.words[at:at+symbol]...)
	}
	return dst
}

// load sets s[k*lanes+j], for k below n and j below count, to word w+k of the row at
// index i+j.
func (m matrix[W]) load(s []W, lanes, i, count, w, n int) {
	width, symbol := m.shape.RowWords, m.layout.Symbol
	if !m.layout.Columns {
		if n == 8 && count == lanes && lanes%8 == 0 {
			for j := 0; j < lanes; j += 8 {
				transpose8(s[j:], lanes, m.words[(i+j)*width+w:], width)
			}
			return
		}
		for j := range count {
			for k, x := range m.words[(i+j)*width+w:][:n] {
				s[k*lanes+j] = x
			}
		}
		return
	}
	for k := range n {
		at := ((w+k)/symbol*m.shape.Rows+i)*symbol + (w+k)%symbol
		to := s[k*lanes:][:count]
		if symbol == 1 {
			copy(to, m.words[at:])
			continue
		}
		for j := range to {
			to[j] = m.words[at+j*symbol]
		}
	}
}
