package kernel

import "testing"

func TestKernels(t *testing.T) {
	s := &Source{Name: "x.cu", Text: `
// extern "C" __global__ void not_this(int a) {
extern "C" __global__ void __launch_bounds__(256) add(u32* __restrict__ out, const u32 *a, u32 n, u64 m) {
}
extern "C" __global__ void none() {}`}
	e, err := s.Kernels()
	if err != nil {
		t.Fatal(err)
	}
	if len(e) != 2 || e[0].Name != "add" || len(e[0].Params) != 4 || len(e[1].Params) != 0 {
		t.Fatalf("%+v", e)
	}
	if e[0].MaxThreads != 256 || e[1].MaxThreads != 0 {
		t.Fatalf("launch bounds %d, %d", e[0].MaxThreads, e[1].MaxThreads)
	}
	p := e[0].Params
	if !p[0].Pointer || p[0].Name != "out" || !p[1].Pointer || p[1].Name != "a" || p[2].Pointer || p[3].Type != "u64" {
		t.Fatalf("%+v", p)
	}
	s.Text += "\ntemplate <int N> __global__ void hidden(u32 n) {}"
	if _, err := s.Kernels(); err == nil {
		t.Fatal("a kernel outside the form went unnoticed")
	}
}
