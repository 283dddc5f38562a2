package bench

import "strings"

// target is what the project asks of a case on one NVIDIA H100.
type target struct {
	required float64
	rate     bool // more is better
}

func (t target) met(v float64) bool {
	if t.rate {
		return v >= t.required
	}
	return v <= t.required
}

// targets by suite, case and metric. Goals that need code which does not exist
// yet are added with it.
var targets = map[[3]string]target{
	{"m31", "sumcheck-product-2^25", "ms"}:      {required: 0.8},
	{"m31", "sumcheck-single-2^25", "ms"}:       {required: 0.35},
	{"m31", "fold-m31-2^25", "copy-fraction"}:   {required: 0.92, rate: true},
	{"m31", "fold-ext-2^25", "copy-fraction"}:   {required: 0.92, rate: true},
	{"m31", "fold-qm31-2^25", "copy-fraction"}:  {required: 0.92, rate: true},
	{"m31", "merkle-2^25", "ms"}:                {required: 7.5},
	{"m31", "merkle-rows8-2^25", "ms"}:          {required: 15},
	{"m31", "matmul-claim-2^14", "ms"}:          {required: 0.4},
	{"m31", "matmul-claims-qwen3-14b", "ms"}:    {required: 100},
	{"m31", "logup-2^24", "ms"}:                 {required: 4},
	{"m31", "gemm-8192", "speedup"}:             {required: 3, rate: true},
	{"whir", "babybear4-n24-best", "prove-ms"}:  {required: 10},
	{"whir", "babybear4-n24-best", "proof-kib"}: {required: 180},
	{"whir", "babybear4-n24-best", "verify-ms"}: {required: 10},
	{"whir", "babybear4-n24-best", "bits"}:      {required: 100, rate: true},
	{"whir", "m31-n25-best", "prove-ms"}:        {required: 14},
	{"whir", "grid", "median-speedup"}:          {required: 25, rate: true},
	{"whir", "grid", "cells"}:                   {required: 46, rate: true},
	{"msm", "bn254-2^20", "ms"}:                 {required: 4.5},
	{"msm", "bn254-2^22", "ms"}:                 {required: 13},
	{"msm", "bn254-2^24", "ms"}:                 {required: 43},
	{"msm", "bn254-2^26", "ms"}:                 {required: 150},
	{"msm", "bn254-2^28", "ms"}:                 {required: 610},
	{"msm", "bls12-381-2^20", "ms"}:             {required: 10},
	{"msm", "bls12-381-2^22", "ms"}:             {required: 29},
	{"msm", "bls12-381-2^24", "ms"}:             {required: 96},
	{"msm", "bls12-381-2^26", "ms"}:             {required: 335},
	{"msm", "bls12-381-2^28", "ms"}:             {required: 1350},
	{"msm", "bls12-377-2^20", "ms"}:             {required: 9},
	{"msm", "bls12-377-2^22", "ms"}:             {required: 25},
	{"msm", "bls12-377-2^24", "ms"}:             {required: 80},
	{"msm", "bls12-377-2^26", "ms"}:             {required: 290},
	{"msm", "bls12-377-2^28", "ms"}:             {required: 1200},
	{"msm", "mnt4-753-2^22", "ms"}:              {required: 350},
	{"msm", "mnt4-753-2^24", "ms"}:              {required: 1250},
	{"msm", "mnt4-753-2^26", "ms"}:              {required: 4600},
	{"msm", "tiny-bn254", "ms"}:                 {required: 1},
	{"msm", "tiny-bls12-381", "ms"}:             {required: 1},
	{"msm", "tiny-bls12-377", "ms"}:             {required: 1},
	{"msm", "bn254-2^26-2gpu", "speedup"}:       {required: 1.9, rate: true},
	{"msm", "bn254-2^26-4gpu", "speedup"}:       {required: 3.6, rate: true},
	{"msm", "bn254-2^28-2gpu", "speedup"}:       {required: 1.95, rate: true},
	{"msm", "bn254-2^28-4gpu", "speedup"}:       {required: 3.85, rate: true},
	{"msm", "bls12-381-2^26-2gpu", "speedup"}:   {required: 1.9, rate: true},
	{"msm", "bls12-381-2^26-4gpu", "speedup"}:   {required: 3.6, rate: true},
	{"msm", "bls12-381-2^28-2gpu", "speedup"}:   {required: 1.95, rate: true},
	{"msm", "bls12-381-2^28-4gpu", "speedup"}:   {required: 3.85, rate: true},
	{"msm", "bls12-377-2^26-2gpu", "speedup"}:   {required: 1.9, rate: true},
	{"msm", "bls12-377-2^26-4gpu", "speedup"}:   {required: 3.6, rate: true},
	{"msm", "bls12-377-2^28-2gpu", "speedup"}:   {required: 1.95, rate: true},
	{"msm", "bls12-377-2^28-4gpu", "speedup"}:   {required: 3.85, rate: true},

	{"groth16", "bn254-2^20", "prove-ms"}:         {required: 70},
	{"groth16", "bn254-2^24", "prove-ms"}:         {required: 700},
	{"groth16", "bn254-zcash-sprout", "prove-ms"}: {required: 150},
	{"groth16", "bn254-otti-sgd", "prove-ms"}:     {required: 400},
	{"groth16", "bn254-lenet", "prove-ms"}:        {required: 5000},

	{"binary", "n28-d2", "ms"}: {required: 8},
	{"binary", "n28-d3", "ms"}: {required: 14},
	{"binary", "n28-d4", "ms"}: {required: 22},
	{"binary", "n24-d2", "ms"}: {required: 0.8},
	{"binary", "n24-d3", "ms"}: {required: 1.3},
	{"binary", "n24-d4", "ms"}: {required: 2},
	{"binary", "n20-d2", "ms"}: {required: 0.3},
	{"binary", "n20-d3", "ms"}: {required: 0.3},
	{"binary", "n20-d4", "ms"}: {required: 0.3},

	{"zkml", "mlp-250k", "prove-ms"}:  {required: 200},
	{"zkml", "mlp-250k", "verify-ms"}: {required: 20},

	{"zkml", "cnn-264k", "prove-ms"}:        {required: 200},
	{"zkml", "cnn-264k", "verify-ms"}:       {required: 20},
	{"zkml", "nanogpt-250k", "prove-ms"}:    {required: 300},
	{"zkml", "gpt2-124m-64", "prove-ms"}:    {required: 1500},
	{"zkml", "gpt2-124m-64", "verify-ms"}:   {required: 100},
	{"zkml", "gpt2-124m-64", "proof-kib"}:   {required: 2000},
	{"zkml", "qwen3-14b-layer", "prove-ms"}: {required: 500},
}

// targetOf returns the target of a row, if its card has one.
func targetOf(r Row) (target, bool) {
	if !strings.Contains(r.Card, "H100") {
		return target{}, false
	}
	t, ok := targets[[3]string{r.Suite, r.Case, r.Metric}]
	return t, ok
}
