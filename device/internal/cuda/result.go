package cuda

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// result is a CUresult.
type result int32

// The results that are told apart (cuda.h).
const (
	success          result = 0
	outOfMemory      result = 2
	deinitialized    result = 4
	stubLibrary      result = 34
	unavailable      result = 46
	noDevice         result = 100
	invalidDevice    result = 101
	invalidImage     result = 200
	noBinary         result = 209
	eccUncorrectable result = 214
	invalidPTX       result = 218
	unsupportedPTX   result = 222
	invalidSource    result = 300
	notReady         result = 600
	illegalAddress   result = 700
	launchTimeout    result = 702
	contextDestroyed result = 709
	launchFailed     result = 719
	unknownError     result = 999
)

// sticky results stay with the context: every later call fails as well.
func (r result) sticky() bool {
	switch r {
	case deinitialized, unavailable, eccUncorrectable, illegalAddress, launchTimeout, contextDestroyed, launchFailed, unknownError:
		return true
	}
	// 710 assert, 714 to 718: hardware stack, illegal instruction, misaligned
	// address, address space, program counter.
	return r == 710 || r >= 714 && r <= 718
}

func (r result) class() error {
	switch r {
	case outOfMemory:
		return driver.ErrNoMemory
	case stubLibrary, noDevice, invalidDevice:
		return driver.ErrAbsent
	case 1: // CUDA_ERROR_INVALID_VALUE
		return driver.ErrUsage
	case invalidImage, noBinary, invalidPTX, unsupportedPTX, invalidSource:
		return driver.ErrUnavailable
	}
	return driver.ErrFault
}

// failure is r as an error, nil for success.
func failure(op string, r result, words func(result) string) error {
	if r == success {
		return nil
	}
	text := words(r)
	if text == "" {
		text = fmt.Sprintf("CUDA error %d", r)
	}
	return &driver.Error{Op: op, Code: int(r), Text: text, Class: r.class()}
}
