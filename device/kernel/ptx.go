package kernel

//go:generate go run ../../internal/tools/gentext -in ../ptx.cuh -out ptx_text.go -package kernel -name ptxText

// PTX is device/ptx.cuh: the integer types, and every PTX instruction that
// kernels use by name, with its emulation.
var PTX = &Source{Name: "device/ptx.cuh", Text: ptxText}
