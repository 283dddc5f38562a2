package field

import "github.com/zkwarp/zkwarp/device/kernel"

// Kernel is a field in CUDA, with the extension that challenges are drawn from,
// for kernels that are written once for all fields: they include "FIELD_HEADER",
// and Unit makes a unit of them.
//
// The header defines, of words in the form of Go's memory,
//
//	FP_P, fp_add, fp_sub, fp_neg, fp_dbl, fp_mul, fp_sqr, fp_pow, fp_inv,
//	fp_one, fp_from, fp_canonical, fp_mad                                          the prime field;
//	EXT_WORDS, ext, ext_zero, ext_one, ext_lift, ext_load, ext_store, ext_add,
//	ext_sub, ext_neg, ext_mul, ext_sqr, ext_mul_base, ext_mul_sym, ext_from_sym    the extension;
//	SYM_WORDS, sym, sym_load, sym_store, sym_add, sym_sub, sym_mul                 the symbols of codewords;
//	ext_acc, acc_zero, acc_mul, acc_mul_sym, acc_value                             sums of products, of any length.
type Kernel struct {
	Name   string // of the variant, such as babybear4
	Header *kernel.Source
}

// Unit is the template's unit for the field: "FIELD_HEADER" and VARIANT are
// replaced in it, besides the pairs. The field's header goes before the others.
func (k Kernel) Unit(t kernel.Template, pairs []string, headers ...*kernel.Source) *kernel.Source {
	pairs = append(append([]string(nil), pairs...), "FIELD_HEADER", k.Header.Name)
	return t.Unit(k.Name, pairs, append([]*kernel.Source{k.Header}, headers...)...)
}
