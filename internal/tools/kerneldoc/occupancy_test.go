package main

import (
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/bench"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
)

func TestResident(t *testing.T) {
	for _, c := range []struct{ threads, registers, shared, want int }{
		{128, 128, 0, 4},
		{128, 129, 0, 3}, // 136 a thread: 15 warps, of which whole quarters count
		{128, 168, 0, 3},
		{64, 255, 7 * 96 * 64, 4},
		{128, 32, 0, 16},           // 64 warps
		{32, 16, 0, 32},            // no more blocks
		{1024, 64, 0, 1},           // all registers
		{1024, 65, 0, 0},           // too many: such a launch fails
		{1024, 32, 110 << 10, 2},   // half of the shared memory
		{1024, 32, 113 << 10, 2},   // 2 (113 + 1) KiB
		{1024, 32, 113<<10 + 1, 1}, // and more
		{256, 32, 227 << 10, 1},
		{256, 32, 227<<10 + 1, 0},
		{33, 32, 0, 32}, // two warps
	} {
		if got := resident(c.threads, c.registers, c.shared); got != c.want {
			t.Errorf("%+v: %d blocks", c, got)
		}
	}
}

func TestLaunched(t *testing.T) {
	const text = `extern "C" __global__ void __launch_bounds__(%) KERNEL(u32 *a) { } extern "C" __global__ void __launch_bounds__(96) KERNEL_too(u32 *a) { }`
	plain := kernel.Template{Name: "a.cu", Text: text}.Unit("x", []string{"%", "256, 2", "KERNEL", "plain"})
	dynamic := kernel.Template{Name: "b.cu", Text: strings.Replace(text, "{ }", "{ SHARED_DYNAMIC(u32, s); }", 1)}.Unit("x", []string{"%", "512", "KERNEL", "dynamic"})
	other := kernel.Template{Name: "c.cu", Text: strings.Replace(text, "{ }", "{ SHARED_DYNAMIC(u32, s); }", 1)}.Unit("x", []string{"%", "512", "KERNEL", "other"})
	rows := []bench.Row{
		{Blocks: map[string]device.Block{"dynamic": {Threads: 512, Shared: 100}, "other": {Threads: 64, Shared: 0}}},
		{Blocks: map[string]device.Block{"dynamic": {Threads: 128, Shared: 200}, "other": {Threads: 32, Shared: 0}}},
		{},
	}
	got, err := launched(rows, []*kernel.Source{plain, dynamic, other, kernel.Template{Name: "d.cu", Text: strings.Replace(text, "{ }", "{ SHARED_DYNAMIC(u32, s); }", 1)}.Unit("x", []string{"%", "1", "KERNEL", "never"})})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]device.Block{"plain": {Threads: 256}, "dynamic": {Threads: 128, Shared: 200}, "other": {Threads: 64}, "never": {}, "never_too": {Threads: 96}} {
		if got[name] != want {
			t.Errorf("%s: %+v", name, got[name])
		}
	}
	if text := occupancy(usage{Registers: 40, Shared: 56}, got["dynamic"]); text != "128 | 256 | 12 | 48" {
		t.Error(text)
	}
	if text := occupancy(usage{Registers: 40}, got["never"]); text != "- | - | - | -" {
		t.Error(text)
	}
}
