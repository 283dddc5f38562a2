package onnx

import "slices"

// linearTable holds matrix products.
var linearTable = map[string]operator{
	"Gemm":   {2, 3, 1, (*translation).gemm},
	"MatMul": {2, 2, 1, (*translation).matMul},
	"Einsum": {1, -1, 1, (*translation).einsumOf},
}

// gemm translates alpha * A * B + beta * C.
func (t *translation) gemm() error {
	alpha, beta := t.attrs.float("alpha", 1), t.attrs.float("beta", 1)
	transA, transB := t.attrs.flag("transA", false), t.attrs.flag("transB", false)
	if err := t.finite("alpha", alpha); err != nil {
		return err
	}
	if err := t.finite("beta", beta); err != nil {
		return err
	}
	if !t.present(2) && t.opset() < 11 {
		return malformed("%s: input C is missing; it is optional from operator set 11 on", t.label)
	}
	for k := range t.inputs {
		if t.present(k) {
			if err := t.real(k); err != nil {
				return err
			}
		}
	}
	a, b := t.value(0), t.value(1)
	if len(a.Shape) != 2 || len(b.Shape) != 2 {
		return malformed("%s: operands of shape %v and %v, expected rank 2", t.label, a.Shape, b.Shape)
	}
	const m, k, n = 0, 1, 2
	la, lb := []uint8{m, k}, []uint8{k, n}
	if transA {
		slices.Reverse(la)
	}
	if transB {
		slices.Reverse(lb)
	}
	y := t.einsum([][]uint8{la, lb, {m, n}}, t.inputs[0], t.inputs[1])
	if alpha != 1 {
		y = t.mul(y, t.scalar(alpha))
	}
	if t.present(2) {
		c := t.inputs[2]
		if shape, ok := broadcast(t.value(2).Shape, t.shape(y)); t.err == nil && (!ok || !slices.Equal(shape, t.shape(y))) {
			return malformed("%s: bias of shape %v does not broadcast to %v", t.label, t.value(2).Shape, t.shape(y))
		}
		if beta != 1 {
			c = t.mul(c, t.scalar(beta))
		}
		y = t.add(y, c)
	}
	return t.result(0, y)
}

func (t *translation) matMul() error {
	for k := range 2 {
		if err := t.real(k); err != nil {
			return err
		}
	}
	return t.result(0, t.matmul(t.inputs[0], t.inputs[1]))
}

// matmul is numpy's product: of matrices, of vectors, and of batches that broadcast against each other.
func (t *translation) matmul(a, b int) int {
	if t.err != nil || a < 0 || b < 0 {
		return -1
	}
	sa, sb := t.shape(a), t.shape(b)
	if len(sa) == 0 || len(sb) == 0 {
		return t.fail(malformed("%s: operands of shape %v and %v, expected rank 1 or more", t.label, sa, sb))
	}
	batchA, batchB := sa[:max(len(sa)-2, 0)], sb[:max(len(sb)-2, 0)]
	batch, ok := broadcast(batchA, batchB)
	if !ok {
		return t.fail(malformed("%s: shapes %v and %v do not broadcast", t.label, sa, sb))
	}
	// Labels 0, 1, ... are the batch axes; an operand lacks those along which it repeats.
	own := func(x int, shape []int) (int, []uint8) {
		var labels []uint8
		var kept []int
		offset := len(batch) - len(shape)
		for i, d := range shape {
			if d == batch[offset+i] {
				labels = append(labels, uint8(offset+i))
				kept = append(kept, d)
			}
		}
		return t.reshape(x, append(kept, t.shape(x)[len(shape):]...)), labels
	}
	a, la := own(a, batchA)
	b, lb := own(b, batchB)
	m, k, n := uint8(len(batch)), uint8(len(batch)+1), uint8(len(batch)+2)
	var out []uint8
	for i := range batch {
		out = append(out, uint8(i))
	}
	if len(sa) > 1 {
		la, out = append(la, m), append(out, m)
	}
	la = append(la, k)
	lb = append(lb, k)
	if len(sb) > 1 {
		lb, out = append(lb, n), append(out, n)
	}
	return t.einsum([][]uint8{la, lb, out}, a, b)
}
