package bench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
)

func TestMain(m *testing.M) {
	devicetest.Main(m, append(slices.DeleteFunc(slices.Concat(ProductSources(), MSMFieldSources()), func(s *kernel.Source) bool { return narrow(s.Name) }),
		CardSource, ArithSource, BN254Source, RandomSource, BabyBearHashSource, KoalaBearHashSource)...)
}

func row() Row {
	return Row{
		Suite: "m31", Case: "fold-m31-2^25", Metric: "ms", Value: 3, Unit: "ms", Samples: []float64{5, 1, 3, 2, 4}, Cold: 9, Seed: 1,
		Command: "zkwarp bench m31", Commit: strings.Repeat("ab", 20), Binary: strings.Repeat("cd", 32), Device: "cuda:0",
		Card: "NVIDIA H100 80GB HBM3", Driver: "580.1", Launches: map[string]int64{"mle_fold": 7},
		Blocks: map[string]device.Block{"mle_fold": {Threads: 256, Shared: 32}}, Go: "go1.26", Date: "2026-01-31T12:00:00Z",
	}
}

func TestValidate(t *testing.T) {
	good := row()
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for field, spoil := range map[string]func(*Row){
		"suite":         func(r *Row) { r.Suite = "M 31" },
		"case":          func(r *Row) { r.Case = "" },
		"unit":          func(r *Row) { r.Unit = "" },
		"samples":       func(r *Row) { r.Samples = r.Samples[:4] },
		"value":         func(r *Row) { r.Value = 2 },
		"commit":        func(r *Row) { r.Commit += "-dirty" },
		"binary_sha256": func(r *Row) { r.Binary = "unknown" },
		"proof_sha256":  func(r *Row) { r.Proof = "xyz" },
		"date":          func(r *Row) { r.Date = "yesterday" },
		"launches":      func(r *Row) { r.Launches = nil },
		"card":          func(r *Row) { r.Card = "---" },
	} {
		bad := row()
		spoil(&bad)
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("spoiled %s: %v", field, err)
		}
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"NVIDIA H100 80GB HBM3": "nvidia-h100-80gb-hbm3",
		"AMD EPYC, 2 threads":   "amd-epyc-2-threads",
		"../../etc/passwd":      "etc-passwd",
	} {
		if got := Slug(name); got != want {
			t.Errorf("Slug(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestMerge(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	old, other := row(), row()
	other.Case = "merkle-2^25"
	if _, err := Merge(folder, []Row{old, other}); err != nil {
		t.Fatal(err)
	}
	newer, stale := row(), row()
	newer.Samples, newer.Value, newer.Date = []float64{1, 1, 1, 1, 1}, 1, "2026-02-01T00:00:00Z"
	stale.Case, stale.Samples, stale.Value, stale.Date = "merkle-2^25", []float64{2, 2, 2, 2, 2}, 2, "2025-01-01T00:00:00Z"
	files, err := Merge(folder, []Row{newer, stale})
	if err != nil || len(files) != 1 || filepath.Base(files[0]) != "nvidia-h100-80gb-hbm3.json" {
		t.Fatalf("%v, %v", files, err)
	}
	rows, err := Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Value != 1 || rows[1].Value != 3 {
		t.Fatalf("got %+v", rows)
	}
	bad := row()
	bad.Value = 100
	before, _ := os.ReadFile(files[0])
	if _, err := Merge(folder, []Row{newer, bad}); err == nil {
		t.Fatal("merged a row whose value is not the median")
	}
	if after, _ := os.ReadFile(files[0]); !bytes.Equal(before, after) {
		t.Fatal("a refused merge changed the file")
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 1 {
		t.Fatalf("%d files left in the folder", len(entries))
	}
}

// A newer run of another commit replaces all metrics of a case on its device, one of the same commit only those that it has.
func TestJoinRuns(t *testing.T) {
	of := func(metric, commit, date string) Row {
		r := row()
		r.Metric, r.Commit, r.Date = metric, strings.Repeat(commit, 40), date
		return r
	}
	join := func(old []Row, added ...Row) string {
		var out []string
		for _, r := range Join(old, added) {
			out = append(out, r.Device+" "+r.Metric+" "+r.Commit[:1]+r.Date)
		}
		return strings.Join(out, ", ")
	}
	old := []Row{of("ms", "a", "1"), of("load-ms", "a", "2"), of("ms", "a", "3")}
	old[2].Device = "cpu"
	d := old[0].Device
	for want, got := range map[string]string{
		d + " load-ms a2, " + "cpu ms a3, " + d + " ms a4": join(old[1:], of("ms", "a", "4")),
		d + " ms a4, " + d + " load-ms a2, cpu ms a3":      join(old, of("ms", "a", "4")),
		"cpu ms a3, " + d + " ms b4":                       join(old, of("ms", "b", "4")),
		"cpu ms a3, " + d + " ms b4, " + d + " more-ms b5": join(old, of("ms", "b", "4"), of("more-ms", "b", "5")),
		d + " ms a1, " + d + " load-ms a2, cpu ms a3":      join(old, of("ms", "b", "1"), of("more-ms", "b", "0")), // an older run
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestDecodeRejects(t *testing.T) {
	good, err := Encode([]Row{row()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(good); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"truncated":     good[:len(good)-3],
		"trailing":      append(slices.Clone(good), '1'),
		"unknown field": bytes.Replace(good, []byte(`"suite"`), []byte(`"sweet"`), 1),
		"object":        []byte(`{}`),
	} {
		if _, err := Decode(data); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	good, err := Encode([]Row{row()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Encode(rows)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(again); err != nil {
			t.Fatalf("does not survive a second reading: %v", err)
		}
	})
}

func TestReport(t *testing.T) {
	slow := row()
	slow.Case, slow.Note = "sumcheck-product-2^25", "<script>alert(1)</script>"
	rate := row()
	rate.Metric, rate.Unit = "copy-fraction", "of copy rate"
	var page bytes.Buffer
	if err := Report(&page, []Row{row(), slow, rate}); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, want := range []string{"NVIDIA H100 80GB HBM3", "<svg", "fold-m31-2^25", `class="missed"`, `class="met"`, "mle_fold 7"} {
		if !strings.Contains(text, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	for _, not := range []string{"<script>", "NaN", "http://", "https://"} {
		if strings.Contains(text, not) {
			t.Errorf("page contains %q", not)
		}
	}
}

// small lists the cases whose size follows the device, so that they can run
// anywhere: they pass their own checks, and on the emulator their kernels ran.
var small = []Options{
	{Suite: "card"},
	{Suite: "m31", Pattern: "^(field-mul|poseidon2)|2^10$|batch-64$|-small$|-80x272$"},
	{Suite: "whir", Pattern: "^(poseidon2|compress)-"},
	{Suite: "whir", Pattern: "-n8($|-)"},
	{Suite: "msm", Pattern: "^bn254-2^8(-skew-half|-simulated-3gpu)?$", SimulateGPUs: 3},
	{Suite: "msm", Pattern: "^(product|accumulate|field)-"},
	{Suite: "binary", Pattern: "^n12-d(2|4|3-bdt1|3-sumcats2)$|^commit-n12$"},
	{Suite: "zkml", Pattern: "tiny"},
}

// narrow says of a case or a unit of wide fields that it is left out: where simt runs
// under a sanitizer or in another order, 254 bits stand for all.
func narrow(name string) bool {
	return (os.Getenv("ZKWARP_SIMT_ORDER") != "" || os.Getenv("ZKWARP_SIMT_SANITIZE") != "") && wide.MatchString(name)
}

var wide = regexp.MustCompile(`^(product|accumulate|field)-.*(377|381|753|761)|\.(bls12377|bls12381|bw6761|mnt4753)`)

func TestSmallCases(t *testing.T) {
	for _, name := range []string{"cpu", "simt"} {
		t.Run(name, func(t *testing.T) {
			dev := devicetest.Open(t, name)
			for _, o := range small {
				o.Samples, o.Seed = 1, 1
				if strings.Contains(o.Pattern, "product") && name == "cpu" {
					continue
				}
				cases, err := Select(o, dev.Kind())
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range cases {
					if narrow(c.Name) {
						continue
					}
					found, launches, err := runCase(context.Background(), dev, c, o)
					if err != nil {
						t.Fatalf("%s: %v", c.Name, err)
					}
					for _, m := range found {
						if len(m.Samples) != 1 || Median(m.Samples) <= 0 {
							t.Errorf("%s %s: samples %v", c.Name, m.Metric, m.Samples)
						}
						// What a row of it would be refused for when it is recorded.
						r := row()
						r.Suite, r.Case, r.Metric, r.Unit = c.Suite, c.Name, m.Metric, m.Unit
						if err := r.Validate(); err != nil {
							t.Errorf("%s %s: %v", c.Name, m.Metric, err)
						}
					}
					if name != "cpu" {
						if err := ran(c, launches); err != nil {
							t.Errorf("%s: %v", c.Name, err)
						}
					}
				}
			}
		})
	}
}

func TestRecordRefusals(t *testing.T) {
	// The test binary carries no clean commit.
	if _, err := Run(context.Background(), Options{Suite: "card", Device: "cpu", Samples: 5, Record: true}); err == nil || !strings.Contains(err.Error(), "--record") {
		t.Errorf("recorded without a commit: %v", err)
	}
	c := Case{Kernels: []string{"a"}}
	if ran(c, map[string]int64{"b": 1}) == nil || ran(Case{}, nil) == nil || ran(c, map[string]int64{"a": 1}) != nil {
		t.Error("the check of launches is wrong")
	}
}

// A case that needs more memory than there is, is left out, and is the run's error if
// nothing else was measured.
func TestSkip(t *testing.T) {
	dev := devicetest.Open(t, "simt")
	dev.SetBudget(1 << 16)
	defer dev.SetBudget(0)
	var left []string
	o := Options{Suite: "msm", Pattern: "^bn254-2^8$", Device: "simt", Samples: 1, Skip: func(name string, err error) { left = append(left, name) }}
	if _, err := Run(context.Background(), o); !errors.Is(err, ErrSkip) || !errors.Is(err, device.ErrNoMemory) || !slices.Equal(left, []string{"bn254-2^8"}) {
		t.Errorf("%v, left out %q", err, left)
	}
	if _, err := msmDevices(dev, 99); !errors.Is(err, ErrSkip) || !strings.Contains(err.Error(), "99 GPUs") {
		t.Errorf("99 GPUs: %v", err)
	}
}

// Programs have cases of their own measured as these are.
func TestOtherCases(t *testing.T) {
	ran := 0
	mine := []Case{
		{Suite: "mine", Name: "one", Run: func(e *Env) ([]Measurement, error) {
			m, err := e.Time("ms", 2, nil, func() error { ran++; return nil })
			return []Measurement{m, Constant("bytes", "bytes", 7, "always", "", e.Samples)}, err
		}},
		{Suite: "mine", Name: "two", Run: func(*Env) ([]Measurement, error) { return nil, errors.New("not asked for") }},
	}
	o := Options{Suite: "mine", Cases: mine, Pattern: "one", Device: "cpu", Samples: 3, Seed: 5, Command: "test"}
	rows, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Case != "one" || rows[0].Seed != 5 || rows[1].Value != 7 || len(rows[1].Samples) != 3 || ran != 1+4*2 {
		t.Errorf("%d calls, %+v", ran, rows)
	}
	o.Suite = "m31"
	if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "there are mine") {
		t.Errorf("a suite that is not among them: %v", err)
	}
}

// A sum went through all of its steps, or through the kernels that do them at once.
func TestMSMRan(t *testing.T) {
	for _, c := range []struct {
		kernels string
		ok      bool
	}{
		{"scatter_tile bucket_accumulate_bn254_g1 reduce_step_bn254_g1", true},
		{"scatter_tile affine_sums_mnt4753_g1 reduce_step_mnt4753_g1", true},
		{"tiny_windows_bn254_g1 tiny_join_bn254_g1", true},
		{"scatter_tile bucket_merge_bn254_g1 reduce_step_bn254_g1", false},
		{"scatter_tile bucket_items_place affine_normalize_bn254_g1 reduce_step_bn254_g1", false},
		{"scatter_tile bucket_accumulate_bls12377_ed edwards_from_affine_bls12377_ed edwards_to_xyzz_bls12377_ed", false},
		{"scatter_tile tiny_join_bn254_g1", false},
		{"bucket_accumulate_bn254_g1 reduce_step_bn254_g1", false},
		{"", false},
	} {
		launches := map[string]int64{}
		for _, k := range strings.Fields(c.kernels) {
			launches[k] = 1
		}
		if err := msmRan(launches); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.kernels, err)
		}
	}
}

// The folder that rows go to is no part of how to repeat them.
func TestCommand(t *testing.T) {
	const want = "zkwarp bench m31 --case x --record"
	for _, args := range [][]string{
		{"bench", "m31", "--case", "x", "--record"},
		{"bench", "m31", "--results", "a/b", "--case", "x", "--record"},
		{"bench", "m31", "--case", "x", "--record", "--results=a/b"},
		{"bench", "m31", "--case", "x", "--record", "--results"},
	} {
		if got := Command("zkwarp", args); got != want {
			t.Errorf("%q: %q", args, got)
		}
	}
}

// Sums of minutes tell what they begin to do, others nothing.
func TestStepsOfLongSums(t *testing.T) {
	var told []string
	e := &Env{Step: func(text string) { told = append(told, text) }}
	msmSpec{log: 26}.step(e, "%d points", 1<<26)
	msmSpec{log: 28}.step(e, "%d points", 1<<28)
	msmSpec{log: 28}.step(&Env{}, "nobody listens")
	if len(told) != 1 || told[0] != "268435456 points" {
		t.Errorf("told %q", told)
	}
}
