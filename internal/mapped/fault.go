package mapped

import (
	"fmt"
	"runtime/debug"
	"unsafe"
)

// Fault is what Guard makes of a read of mapped memory behind which there is no file any more: it was cut short after it was mapped, or its disk failed.
type Fault struct {
	Addr uintptr // what was read; see File.Has
}

func (f *Fault) Error() string {
	return fmt.Sprintf("memory at %#x cannot be read: a mapped file was cut short while it was used, or its disk failed", f.Addr)
}

// Guard calls f. A read that faults in it, or in loops of package parallel that it runs, ends f, and is returned as a *Fault; outside it would end the
// process. Goroutines that f starts need a Guard of their own.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // the runtime's error for an address
			err = &Fault{r.Addr()}
		default:
			panic(r)
		}
	}()
	return f()
}

// Has says whether an address is of the file's bytes.
func (m *File) Has(addr uintptr) bool {
	first := uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes)))
	return len(m.Bytes) > 0 && addr >= first && addr-first < uintptr(len(m.Bytes))
}
