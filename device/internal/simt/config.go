// Package simt runs CUDA kernels on the host's processor, for tests: a .cu file
// is compiled by g++ against simt.hpp into a shared object, and a child process
// (runtime/host.cpp) runs its kernels over memory shared with this one. A kernel that
// faults takes the child down, not us.
package simt

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// Order is the order in which blocks, and the threads of a block, get to run.
type Order string

// Orders. Correct kernels give the same results in each.
const (
	Forward Order = "forward"
	Reverse Order = "reverse"
	Shuffle Order = "shuffle" // pseudo-random, by Config.Seed
)

// Config says how to run kernels.
type Config struct {
	Order    Order
	Seed     uint64
	Sanitize bool          // AddressSanitizer and UndefinedBehaviorSanitizer
	Threads  int           // of the host, that run blocks
	Timeout  time.Duration // after which a launch counts as hung
	Memory   int64         // bytes of device memory (address space until used)
	Compiler string        // g++ or a path, "" to look for one
	Cache    string        // folder for compiled modules, "" for the user's
}

// FromEnv reads ZKWARP_SIMT_ORDER (forward, reverse, shuffle:SEED),
// ZKWARP_SIMT_SANITIZE (1), ZKWARP_SIMT_THREADS, ZKWARP_SIMT_TIMEOUT (seconds)
// and ZKWARP_CXX (the compiler).
func FromEnv() (Config, error) {
	c := Config{Order: Forward, Compiler: os.Getenv("ZKWARP_CXX")}
	bad := func(name string) (Config, error) {
		return c, &driver.Error{Op: "open", Text: fmt.Sprintf("%s=%q", name, os.Getenv(name)), Class: driver.ErrUsage}
	}
	if s := os.Getenv("ZKWARP_SIMT_ORDER"); s != "" {
		order, seed, seeded := strings.Cut(s, ":")
		c.Order = Order(order)
		if seeded {
			n, err := strconv.ParseUint(seed, 10, 64)
			if err != nil {
				return bad("ZKWARP_SIMT_ORDER")
			}
			c.Seed = n
		}
		if c.Order != Forward && c.Order != Reverse && c.Order != Shuffle || seeded != (c.Order == Shuffle) {
			return bad("ZKWARP_SIMT_ORDER")
		}
	}
	if s := os.Getenv("ZKWARP_SIMT_SANITIZE"); s != "" {
		on, err := strconv.ParseBool(s)
		if err != nil {
			return bad("ZKWARP_SIMT_SANITIZE")
		}
		c.Sanitize = on
	}
	if s := os.Getenv("ZKWARP_SIMT_THREADS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 256 {
			return bad("ZKWARP_SIMT_THREADS")
		}
		c.Threads = n
	}
	if s := os.Getenv("ZKWARP_SIMT_TIMEOUT"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 1e6 {
			return bad("ZKWARP_SIMT_TIMEOUT")
		}
		c.Timeout = time.Duration(n) * time.Second
	}
	return c, nil
}

func (c Config) withDefaults() Config {
	if c.Order == "" {
		c.Order = Forward
	}
	if c.Threads == 0 {
		c.Threads = min(2, runtime.NumCPU())
	}
	if c.Sanitize {
		// Shared memory is static there: one block at a time.
		c.Threads = 1
	}
	if c.Timeout == 0 {
		c.Timeout = 2 * time.Minute
	}
	if c.Memory == 0 {
		c.Memory = 4 << 30
		if c.Sanitize {
			c.Memory = 1 << 30 // an eighth of it in shadow is touched at the start
		}
	}
	return c
}
