//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// maxArgs bounds a kernel's parameters: 4 KiB of them is what every card takes.
const maxArgs = 256

// launch is what cuLaunchKernel reads: the arguments, and a pointer to each.
// It lies in memory of the driver, which the collector knows nothing of, and
// may be written anew once the call has returned.
type launch struct {
	values   [maxArgs]uint64
	pointers [maxArgs]unsafe.Pointer
}

// launchBlock returns a block not in use. Blocks are made by the slab.
func (d *Device) launchBlock() (*launch, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.blocks) == 0 {
		const slab = 16
		p, err := d.hostAlloc(slab * int(unsafe.Sizeof(launch{})))
		if err != nil {
			return nil, err
		}
		all := unsafe.Slice((*launch)(p), slab)
		for i := range all {
			for j := range all[i].values {
				all[i].pointers[j] = unsafe.Pointer(&all[i].values[j])
			}
			d.blocks = append(d.blocks, &all[i])
		}
	}
	b := d.blocks[len(d.blocks)-1]
	d.blocks = d.blocks[:len(d.blocks)-1]
	return b, nil
}

// hostAlloc returns page-locked memory, which the contexts of all devices may use.
func (d *Device) hostAlloc(bytes int) (unsafe.Pointer, error) {
	const portable = 1
	var p unsafe.Pointer // C memory
	err := d.do("allocate page-locked memory", d.memHostAlloc, uintptr(unsafe.Pointer(&p)), uintptr(bytes), portable)
	if err == nil && p == nil {
		err = &driver.Error{Op: "allocate page-locked memory", Bytes: int64(bytes), Text: "the driver returned nothing", Class: driver.ErrNoMemory}
	}
	return p, err
}

// function is what is known of a loaded kernel.
type function struct {
	name string
	mu   sync.Mutex
	most uint32 // dynamic shared memory that it may be launched with
}

// Function attributes (CUfunction_attribute in cuda.h).
const (
	attrSharedStatic     = 1
	attrMaxDynamicShared = 8
)

// allowShared makes launches of f with so much dynamic shared memory legal:
// more than 48 KiB, with the kernel's own, needs to be asked for.
func (d *Device) allowShared(f driver.Func, shared uint32) error {
	v, ok := d.funcs.Load(f)
	if !ok {
		return &driver.Error{Op: "launch", Text: "not a kernel of this device", Class: driver.ErrUsage}
	}
	k := v.(*function)
	k.mu.Lock()
	defer k.mu.Unlock()
	if shared <= k.most {
		return nil
	}
	if err := d.do("launch "+k.name, d.funcSetAttribute, uintptr(f), attrMaxDynamicShared, uintptr(shared)); err != nil {
		return fmt.Errorf("allow %d bytes of shared memory (the card has %d for a block): %w", shared, d.info.SharedPerBlock, err)
	}
	k.most = shared
	return nil
}
