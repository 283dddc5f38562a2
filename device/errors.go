package device

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// Classes of failure, for errors.Is.
var (
	// ErrUnavailable: the device, its driver or its compiler is not there.
	ErrUnavailable = driver.ErrUnavailable
	// ErrNoMemory: the device or the memory budget has too little memory.
	ErrNoMemory = driver.ErrNoMemory
	// ErrFault: the device failed (launch failure, lost device, bad address).
	ErrFault = driver.ErrFault
	// ErrUsage: a call that is wrong whatever the device (sizes, arguments).
	ErrUsage = driver.ErrUsage
)

// Error is a failure of a device operation.
type Error struct {
	Device string // "cuda:0"
	Op     string // what was being done: "alloc", "launch mle_fold"
	Code   int    // the driver's code, 0 if none
	Text   string // the driver's words
	Bytes  int64  // bytes asked for, 0 if not about memory
	Class  error  // one of the Err values above
}

func (e *Error) Error() string {
	d := driver.Error{Op: e.Op, Code: e.Code, Text: e.Text, Bytes: e.Bytes}
	return e.Device + ": " + d.Error()
}

// Unwrap returns the class.
func (e *Error) Unwrap() error { return e.Class }

func usage(dev, op, format string, args ...any) error {
	return &Error{Device: dev, Op: op, Text: fmt.Sprintf(format, args...), Class: ErrUsage}
}

// wrap turns what a driver returned into an *Error that names the device.
func (d *Device) wrap(err error) error {
	var e *driver.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	return &Error{Device: d.name, Op: e.Op, Code: e.Code, Text: e.Text, Bytes: e.Bytes, Class: e.Class}
}
