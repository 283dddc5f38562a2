package device

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/device/kernel"
)

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]int64{"1": 1, "1048576": 1 << 20, "8GiB": 8 << 30, "8 GB": 8 << 30, "1.5g": 3 << 29, " 2kib ": 2048, "3T": 3 << 40} {
		if got, err := ParseBytes(s); err != nil || got != want {
			t.Errorf("%q: %d, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "GiB", "-1", "0", "1X", "1e3", "NaN", "1 2", "99999999T", "1.2.3"} {
		if got, err := ParseBytes(s); err == nil {
			t.Errorf("%q: %d", s, got)
		}
	}
}

func TestPrefer(t *testing.T) {
	t.Setenv(EnvThreshold, "")
	for _, c := range []struct {
		op   string
		n    int
		want bool
	}{
		{"sumcheck", 1<<15 - 1, false}, {"sumcheck", 1 << 15, true}, {"merkle", 1 << 9, true}, {"merkle", 1<<9 - 1, false},
		{"something new", 1<<usual - 1, false}, {"something new", 1 << usual, true}, {"sumcheck", 0, false}, {"sumcheck", -1, false},
	} {
		if got := Prefer(c.op, c.n); got != c.want {
			t.Errorf("%s of %d: %v", c.op, c.n, got)
		}
	}
	t.Setenv(EnvThreshold, "0")
	if !Prefer("sumcheck", 1) || !Prefer("sumcheck", 0) {
		t.Error("0 does not force the GPU")
	}
	t.Setenv(EnvThreshold, "4")
	if Prefer("merkle", 15) || !Prefer("merkle", 16) || !Prefer("zkml", 16) {
		t.Error("the override is not used")
	}
	t.Setenv(EnvThreshold, "many")
	if Prefer("sumcheck", 16) {
		t.Error("an override that is no number is used")
	}
	for value, right := range map[string]bool{"": true, " ": true, "0": true, "63 ": true, "64": false, "-1": false, "many": false, "1e3": false} {
		t.Setenv(EnvThreshold, value)
		if err := CheckThreshold(); (err == nil) != right || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("%s %q", EnvThreshold, value)) {
			t.Errorf("threshold %q: %v", value, err)
		}
	}
}

// with replaces the open devices by stand-ins while a test runs.
func with(t *testing.T, stand ...*Device) {
	t.Helper()
	devices.Lock()
	before := devices.open
	devices.open = map[string]*Device{}
	for _, d := range stand {
		devices.open[d.name] = d
	}
	devices.warned = sync.Once{}
	devices.Unlock()
	t.Cleanup(func() {
		devices.Lock()
		devices.open = before
		devices.Unlock()
	})
	t.Setenv(EnvDevice, "")
	t.Setenv(EnvThreshold, "")
}

// card is a GPU that cannot do anything.
type card struct {
	driver.Driver
	loads    atomic.Int32
	compiler string
	free     int64
	cached   int64
	trims    int
}

func (c *card) Info() driver.Info { return driver.Info{Name: "card", Compiler: c.compiler} }

func (c *card) Memory() (int64, int64, error) { return c.free, c.free, nil }
func (c *card) Cached() int64                 { return c.cached }
func (c *card) Trim() error                   { c.trims++; c.cached = 0; return nil }

func (c *card) Alloc(driver.Stream, int64) (driver.Ptr, error) { return 4096, nil }
func (c *card) Free(driver.Stream, driver.Ptr) error           { return nil }
func (c *card) NewStream() (driver.Stream, error)              { return &silent{}, nil }

func (c *card) Load(s *kernel.Source) (map[string]driver.Func, error) {
	c.loads.Add(1)
	return map[string]driver.Func{"k": 1}, nil
}

type silent struct{ driver.Stream }

func (s *silent) Launch(driver.Func, driver.Dim, driver.Dim, uint32, []uint64) error { return nil }

var silentUnit = &kernel.Source{Name: "k.cu", Text: `extern "C" __global__ void k(u32* x, u32 n, u64 m) {}`}

// Launching is the hot path of every prover.
func TestLaunchAllocates(t *testing.T) {
	d := gpu(&card{free: 1 << 20})
	if err := d.Preload(silentUnit); err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b, err := Alloc[uint32](q, 4)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := q.Launch(Kernel{silentUnit, "k"}, D1(1), D1(1), 0, b.Arg(), U32(1), U64(2)); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a launch", n)
	}
	if n := d.Launches()["k"]; n != 101 {
		t.Errorf("%d launches counted", n)
	}
	for _, s := range []struct{ threads, shared int }{{64, 1000}, {1024, 999}, {128, 1000}, {96, 1000}} {
		if err := q.Launch(Kernel{silentUnit, "k"}, D1(1), D1(s.threads), s.shared, b.Arg(), U32(1), U64(2)); err != nil {
			t.Fatal(err)
		}
	}
	if b := d.Blocks()["k"]; b != (Block{Threads: 128, Shared: 1000}) {
		t.Errorf("the largest block is %+v", b)
	}
}

func TestPreloadReports(t *testing.T) {
	d := gpu(&card{})
	other := &kernel.Source{Name: "other.cu", Text: `extern "C" __global__ void other(u32 n) {}`}
	broken := &kernel.Source{Name: "broken.cu", Text: `__global__ void no_form(u32 n) {}`}
	err := d.Preload(silentUnit, other, broken)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "lacks other") || !strings.Contains(err.Error(), "broken.cu") {
		t.Errorf("%v", err)
	}
	if n := len(d.Launches()); n != 0 {
		t.Errorf("%d kernels launched", n)
	}
}

// PreloadEach says of every unit how it went, and loads none after its context's end.
func TestPreloadEach(t *testing.T) {
	other := &kernel.Source{Name: "other.cu", Text: `extern "C" __global__ void other(u32 n) {}`}
	var mu sync.Mutex
	said := map[string]bool{}
	err := gpu(&card{}).PreloadEach(t.Context(), func(s *kernel.Source, err error) {
		mu.Lock()
		defer mu.Unlock()
		said[s.Name] = err == nil
	}, silentUnit, other)
	if !errors.Is(err, ErrUnavailable) || len(said) != 2 || !said["k.cu"] || said["other.cu"] {
		t.Errorf("%v, %v", said, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &card{}
	if err := gpu(c).PreloadEach(ctx, nil, silentUnit); !errors.Is(err, context.Canceled) || c.loads.Load() != 0 {
		t.Errorf("%v, %d loads", err, c.loads.Load())
	}
}

// A source written anew is the unit that it says the same as.
func TestLoadByDigest(t *testing.T) {
	c := &card{}
	d := gpu(c)
	unit := func(text string) *kernel.Source {
		return &kernel.Source{Name: "k.cu", Text: silentUnit.Text, Headers: []*kernel.Source{{Name: "h.cuh", Text: text}}}
	}
	for _, text := range []string{"// a", "// a", "// b", "// a"} {
		if err := d.Preload(unit(text)); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.loads.Load(); n != 2 {
		t.Errorf("%d loads of 2 units", n)
	}
}

func BenchmarkLaunch(b *testing.B) {
	d := gpu(&card{free: 1 << 20})
	q, err := d.NewQueue(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	x, err := Alloc[uint32](q, 4)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := q.Launch(Kernel{silentUnit, "k"}, D1(1), D1(1), 0, x.Arg(), U32(1), U64(2)); err != nil {
			b.Fatal(err)
		}
	}
}

func gpu(c *card) *Device {
	return &Device{name: "cuda:0", kind: CUDA, drv: c, modules: map[[32]byte]*module{}}
}

func captureLog(t *testing.T) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &b
}

func TestAutomatic(t *testing.T) {
	log := captureLog(t)
	with(t, gpu(&card{compiler: "NVRTC 13.0"}))
	if d, err := Open("auto"); err != nil || d.Name() != "cuda:0" {
		t.Errorf("a usable GPU was passed over: %v, %v", d, err)
	}
	with(t, gpu(&card{}))
	for range 3 {
		if d, err := Open(""); err != nil || d.Name() != "cpu" {
			t.Errorf("a GPU without a compiler was taken: %v", err)
		}
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "NVRTC") {
		t.Errorf("%d warnings: %s", n, log)
	}
	if d, err := Open("cuda:0"); err != nil || d.Name() != "cuda:0" {
		t.Errorf("a GPU asked for by name was replaced: %v", err)
	}
	t.Setenv(EnvDevice, "cpu")
	with2 := func(name string) string {
		d, err := Open(name)
		if err != nil {
			return err.Error()
		}
		return d.Name()
	}
	if with2("auto") != "cpu" || with2("cuda:0") != "cuda:0" {
		t.Error(EnvDevice + " stands in for more or less than auto")
	}
	if Automatic("auto") {
		t.Error("automatic although the environment names a device")
	}
}

func TestRunFallsBack(t *testing.T) {
	log := captureLog(t)
	with(t, gpu(&card{compiler: "NVRTC 13.0"}))
	t.Setenv(EnvThreshold, "0")
	var ran []string
	body := func(fail error) func(*Device) error {
		ran = nil
		return func(d *Device) error {
			ran = append(ran, d.Name())
			if d.Kind() == CUDA {
				return fail
			}
			return nil
		}
	}
	for _, class := range []error{ErrNoMemory, ErrFault, ErrUnavailable} {
		if err := Run("auto", "sumcheck", 1, body(&Error{Class: class, Text: "of old age"})); err != nil || strings.Join(ran, " ") != "cuda:0 cpu" {
			t.Errorf("%v: ran on %v, %v", class, ran, err)
		}
	}
	if n := strings.Count(log.String(), "of old age"); n != 3 {
		t.Errorf("warned %d times: %s", n, log)
	}
	other := errors.New("the statement is false")
	if err := Run("auto", "sumcheck", 1, body(other)); !errors.Is(err, other) || len(ran) != 1 {
		t.Errorf("an error of the work itself: ran on %v, %v", ran, err)
	}
	if err := Run("cuda:0", "sumcheck", 1, body(&Error{Class: ErrFault})); !errors.Is(err, ErrFault) || len(ran) != 1 {
		t.Errorf("asked for by name: ran on %v, %v", ran, err)
	}
	t.Setenv(EnvThreshold, "")
	if err := Run("auto", "sumcheck", 1, body(nil)); err != nil || strings.Join(ran, " ") != "cpu" {
		t.Errorf("small work ran on %v", ran)
	}
	if err := Run("auto", "sumcheck", 1<<20, body(nil)); err != nil || strings.Join(ran, " ") != "cuda:0" {
		t.Errorf("large work ran on %v", ran)
	}
}

func TestOpenNames(t *testing.T) {
	with(t, gpu(&card{compiler: "NVRTC 13.0"}))
	if d, err := Open("cuda"); err != nil || d.Name() != "cuda:0" {
		t.Errorf("cuda: %v", err)
	}
	if _, err := Open("cuda:all"); !errors.Is(err, ErrUsage) {
		t.Errorf("cuda:all for one device: %v", err)
	}
	l, err := OpenList("cuda:0")
	if err != nil || len(l) != 1 || l[0].Name() != "cuda:0" {
		t.Errorf("%v, %v", l, err)
	}
	if l := List(); len(l) == 0 || l[len(l)-1].Device != "cpu" || l[len(l)-1].Units < 1 || l[len(l)-1].Name == "" {
		t.Errorf("%+v", l)
	}
}

// By default buffers get 80 % of what is free; what the driver keeps for reuse
// counts, and is given back first.
func TestDefaultBudget(t *testing.T) {
	c := &card{free: 1000 << 10}
	d := gpu(c)
	q, err := d.NewQueue(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	a, err := Alloc[byte](q, 600<<10)
	if err != nil {
		t.Fatal(err)
	}
	if limit, err := d.Budget(); err != nil || limit != 800<<10 {
		t.Errorf("budget %d, %v", limit, err)
	}
	if _, err := Alloc[byte](q, 201<<10); !errors.Is(err, ErrNoMemory) {
		t.Errorf("%v", err)
	}
	c.cached = 150 << 10
	b, err := Alloc[byte](q, 50<<10)
	if err != nil || c.trims != 0 {
		t.Errorf("%v, %d trims", err, c.trims)
	}
	e, err := Alloc[byte](q, 1<<10)
	if err != nil || c.trims != 1 {
		t.Errorf("%v, %d trims", err, c.trims)
	}
	a.Free()
	b.Free()
	e.Free()
	if d.InUse() != 0 {
		t.Errorf("%d bytes in use", d.InUse())
	}
}

func TestBudgetVariable(t *testing.T) {
	with(t)
	t.Setenv(EnvBudget, "2 MiB")
	d, err := Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	if limit, err := d.Budget(); err != nil || limit != 2<<20 {
		t.Errorf("%d, %v", limit, err)
	}
	with(t)
	t.Setenv(EnvBudget, "lots")
	if _, err := Open("cpu"); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), EnvBudget) {
		t.Errorf("%v", err)
	}
}

func TestDiagnose(t *testing.T) {
	with(t)
	t.Setenv(EnvThreshold, "7")
	d := Diagnose()
	if d.CPU.Name == "" || d.CPU.Threads < 1 || d.Automatic == "" || len(d.Thresholds) == 0 || d.ThresholdOverride == nil || *d.ThresholdOverride != 7 {
		t.Errorf("%+v", d)
	}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"gpus":[`, `"nvrtc":{`, `"kernel_cache":{`, `"advice":[`, `"features":[`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("%s is missing: %s", want, b)
		}
	}
}

// Each thing that is missing gets its own line of advice, and nothing else.
func TestAdvice(t *testing.T) {
	whole := func() *Diagnosis {
		return &Diagnosis{
			GPUs: []Info{{Device: "cuda:0"}}, Driver: DriverDiagnosis{Library: "libcuda.so.1"},
			NVRTC: NVRTCDiagnosis{Library: "libnvrtc.so.13", supported: true},
			Cache: CacheDiagnosis{Folder: "/x"}, CPU: CPUDiagnosis{Arch: "amd64", Features: []string{"AVX2"}},
		}
	}
	if got := whole().advise(); len(got) != 0 {
		t.Errorf("advice for a machine that lacks nothing: %q", got)
	}
	for want, spoil := range map[string]func(*Diagnosis){
		"GPU: no CUDA driver": func(d *Diagnosis) {
			d.Driver = DriverDiagnosis{Error: "libcuda.so.1 not found", absent: true}
		},
		"GPU: the driver does not work (mismatch)": func(d *Diagnosis) { d.Driver = DriverDiagnosis{Error: "mismatch"} },
		"GPU: the driver sees none":                func(d *Diagnosis) { d.GPUs = nil },
		"GPU: this build has none":                 func(d *Diagnosis) { d.NVRTC = NVRTCDiagnosis{} },
		"NVRTC: not found":                         func(d *Diagnosis) { d.NVRTC.Library = "" },
		"kernel cache:":                            func(d *Diagnosis) { d.Cache.Folder = "" },
		"CPU:":                                     func(d *Diagnosis) { d.CPU.Features = []string{"BMI2"} },
	} {
		d := whole()
		spoil(d)
		if got := d.advise(); len(got) != 1 || !strings.HasPrefix(got[0], want) || strings.Contains(got[0], "\n") {
			t.Errorf("want one line %q, got %q", want, got)
		}
	}
}
