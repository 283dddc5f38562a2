// Package cuda drives NVIDIA GPUs through the CUDA driver API, called without
// cgo. Kernels are compiled by NVRTC for the very card and kept on disk, or
// taken from the PTX built into the program where there is no NVRTC.
package cuda
