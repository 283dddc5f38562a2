package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/bench"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
)

// What a multiprocessor of compute capability 9.0 has, and how it gives it out (CUDA C++
// Programming Guide, table of technical specifications; cuda_occupancy.h of the toolkit
// for the units of allocation).
const (
	mostWarps      = 64
	mostBlocks     = 32
	registers      = 1 << 16
	registerUnit   = 256 // a warp's registers
	warpUnit       = 4   // the multiprocessor's quarters take whole warps
	sharedMemory   = 228 << 10
	sharedReserved = 1 << 10 // of each block, for the system
	sharedUnit     = 128
	mostShared     = 227 << 10 // of a block
)

// resident is how many blocks of so many threads, registers a thread and bytes of shared
// memory a multiprocessor holds at a time.
func resident(threads, perThread, shared int) int {
	up := func(n, unit int) int { return (n + unit - 1) / unit * unit }
	warps := (threads + 31) / 32
	if warps == 0 || perThread == 0 || shared > mostShared {
		return 0
	}
	byRegisters := registers / up(32*perThread, registerUnit) / warpUnit * warpUnit / warps
	byShared := sharedMemory / up(shared+sharedReserved, sharedUnit)
	return min(mostBlocks, mostWarps/warps, byRegisters, byShared)
}

// blocks are the largest blocks that the card's rows saw each kernel launched in; rows
// that are older than this field have none.
func blocks(results []bench.Row) map[string]device.Block {
	out := map[string]device.Block{}
	for _, r := range results {
		for name, b := range r.Blocks {
			if old := out[name]; b.Shared > old.Shared || b.Shared == old.Shared && b.Threads > old.Threads {
				out[name] = b
			}
		}
	}
	return out
}

const dynamicShared = "SHARED_DYNAMIC"

// bounds are the blocks that sources allow: the launch bounds, and no dynamic shared
// memory, for kernels that have none.
func bounds(sources []*kernel.Source) (map[string]device.Block, error) {
	out := map[string]device.Block{}
	for _, s := range sources {
		if slices.ContainsFunc(s.Closure(), func(x *kernel.Source) bool {
			return x.Name != kernel.PTX.Name && strings.Contains(x.Text, dynamicShared)
		}) {
			continue // in functions of whatever kernel
		}
		entries, err := s.Kernels()
		if err != nil {
			return nil, err
		}
		parts := strings.Split(s.Text, "__global__") // what comes before the first kernel, and then one each
		if strings.Contains(parts[0], dynamicShared) || len(parts) != len(entries)+1 {
			continue
		}
		for i, e := range entries {
			if !strings.Contains(parts[i+1], dynamicShared) {
				out[e.Name] = device.Block{Threads: e.MaxThreads}
			}
		}
	}
	return out, nil
}

// launched joins what was recorded and, for kernels that no row names, what sources say.
func launched(results []bench.Row, sources []*kernel.Source) (map[string]device.Block, error) {
	out, err := bounds(sources)
	if err != nil {
		return nil, err
	}
	maps.Copy(out, blocks(results))
	return out, nil
}

// occupancy is the columns of a kernel: threads of a block, its shared memory, and how
// many a multiprocessor holds of blocks and of warps.
func occupancy(u usage, b device.Block) string {
	if b.Threads == 0 {
		return "- | - | - | -"
	}
	shared := u.Shared + b.Shared
	n := resident(b.Threads, u.Registers, shared)
	return fmt.Sprintf("%d | %d | %d | %d", b.Threads, shared, n, n*((b.Threads+31)/32))
}
