package kernel

import "testing"

func TestTemplate(t *testing.T) {
	file := Template{"room/prover/x.cu", "#include \"FIELD_HEADER\"\nextern \"C\" __global__ void __launch_bounds__(32) x_VARIANT(u32 *p) {}\n"}
	header := &Source{Name: "field/f.cuh", Text: "#pragma once\n"}
	u := file.Unit("f4", []string{"FIELD_HEADER", header.Name}, header)
	if u.Name != "room/prover/x.f4.cu" || u.File() != file.Name || header.File() != header.Name {
		t.Errorf("unit %s of %s, header of %s", u.Name, u.File(), header.File())
	}
	entries, err := u.Kernels()
	if err != nil || len(entries) != 1 || entries[0].Name != "x_f4" {
		t.Errorf("kernels %v, %v", entries, err)
	}
	if want := "#include \"field/f.cuh\"\nextern \"C\" __global__ void __launch_bounds__(32) x_f4(u32 *p) {}\n"; u.Text != want {
		t.Errorf("text %q", u.Text)
	}
	if !u.FromFile(file.Text) || u.FromFile(file.Text+" ") || !header.FromFile(header.Text) {
		t.Error("texts are not told apart")
	}
}
