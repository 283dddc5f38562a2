package device

import "github.com/zkwarp/zkwarp/device/internal/driver"

// InUse is the number of bytes of device memory that live buffers hold.
func (d *Device) InUse() int64 { return d.inUse.Load() }

// SetBudget limits what buffers of d may hold together, in bytes; 0 restores
// the default: 80 % of what is free at the time of the first allocation on a
// GPU, no limit elsewhere.
func (d *Device) SetBudget(bytes int64) { d.budget.Store(bytes) }

// Budget is the limit on what buffers of d may hold together, 0 if there is
// none.
func (d *Device) Budget() (int64, error) {
	if limit := d.budget.Load(); limit != 0 || d.kind != CUDA {
		return limit, nil
	}
	free, _, err := d.drv.Memory()
	if err != nil {
		return 0, d.wrap(err)
	}
	d.budget.CompareAndSwap(0, max(1, (free+d.inUse.Load())/5*4))
	return d.budget.Load(), nil
}

// CheckMemory says whether buffers of so many more bytes fit the budget, for
// use before work starts: nil, or an ErrNoMemory with the bytes needed.
func (d *Device) CheckMemory(bytes int64) error {
	limit, err := d.Budget()
	if err != nil {
		return err
	}
	if limit > 0 && bytes > limit-d.inUse.Load() {
		return d.overBudget("check memory", bytes)
	}
	return nil
}

func (d *Device) overBudget(op string, bytes int64) error {
	return &Error{Device: d.name, Op: op, Bytes: bytes, Class: ErrNoMemory,
		Text: "over the memory budget (raise --memory-budget or " + EnvBudget + ")"}
}

// reserve counts bytes against the budget.
func (d *Device) reserve(bytes int64) error {
	limit, err := d.Budget()
	if err != nil {
		return err
	}
	used := d.inUse.Add(bytes)
	if limit <= 0 {
		return nil
	}
	if used > limit {
		d.inUse.Add(-bytes)
		return d.overBudget("alloc", bytes)
	}
	// What is kept for reuse must not push the whole over the budget.
	if c, ok := d.drv.(driver.Cache); ok && used+c.Cached() > limit {
		if err := c.Trim(); err != nil {
			d.inUse.Add(-bytes)
			return d.wrap(err)
		}
	}
	return nil
}
