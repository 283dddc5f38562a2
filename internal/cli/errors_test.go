package cli

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/whir/whirfile"
)

var update = flag.Bool("update", false, "rewrite testdata/errors.txt")

// errorCase is a command that must fail. @ stands for a folder with good files
// and with the bad ones that badFiles makes.
type errorCase struct {
	code int
	args string
}

var errorCases = []errorCase{
	{ExitUsage, "frobnicate"},
	{ExitUsage, "verfy"},
	{ExitUsage, "--json"},
	{ExitUsage, "help nope"},
	{ExitUsage, "help bench nope"},
	{ExitUsage, "completion nope"},
	{ExitUsage, "completion bash nope"},
	{ExitUsage, "version extra"},
	{ExitUsage, "inspect @/m.vk @/m.pk"},
	{ExitUsage, "inspect --key @/m.vk @/m.zkcal"},
	{ExitUsage, "version --frob"},
	{ExitUsage, "version --log-level loud"},
	{ExitUsage, "version --memory-budget much"},
	{ExitUsage, "prove"},
	{ExitUsage, "verify --key @/m.vk"},
	{ExitUsage, "calibrate @/m.onnx"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o -"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/m"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --security 80"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --optimize luck"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --security 125"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --security 120"},
	{ExitUsage, "prove --key @/m.pk --input @/x.json -o @/x.proof"},
	{ExitUsage, "prove --key @/m.pk --input @/x.json -o @"},
	{ExitUsage, "prove --key @/m.pk --input @/x.json -o - --json"},
	{ExitUsage, "prove --key @/m.pk --input @/x.json -o @/m.pk --force"},
	{ExitUsage, "prove --key @/m.pk --input @/x.json -o @/./x.json --force"},
	{ExitUsage, "prove --key @/m.pk --input @/x.json -o @/n --trace @/n"},
	{ExitUsage, "inspect @/m.vk --html @/m.vk --force"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/x.json --force"},
	{ExitUsage, "mock @/m.onnx --input @/x.json"},
	{ExitUsage, "mock --key @/m.pk @/m.onnx --calibration @/m.zkcal --input @/x.json"},
	{ExitUsage, "security"},
	{ExitUsage, "security --whir --vars 99"},
	{ExitUsage, "security --whir --vars 20 --lambda 0"},
	{ExitUsage, "security --whir --vars 20 --optimize luck"},
	{ExitUsage, "whir nope"},
	{ExitUsage, "whir --json"},
	{ExitUsage, "whir plan"},
	{ExitUsage, "whir plan --vars 20 extra"},
	{ExitUsage, "whir plan --vars 0"},
	{ExitUsage, "whir plan --vars 34"},
	{ExitUsage, "whir plan --vars 33 --field babybear"},
	{ExitUsage, "whir plan --vars twenty"},
	{ExitUsage, "whir plan --vars 20 --johnson-start"},
	{ExitUsage, "whir plan --vars 20 --field cm31 --johnson-start --unique-only"},
	{ExitUsage, "whir plan --vars 20 --folds 6,5,5 --shrinks 7,1"},
	{ExitUsage, "whir plan --vars 20 --folds 10,10,4"},
	{ExitUsage, "whir plan --vars 20 --folds 11,5"},
	{ExitUsage, "whir plan --vars 20 --field f7"},
	{ExitUsage, "whir plan --vars 20 --hash md5"},
	{ExitUsage, "whir plan --vars 20 --extension 9"},
	{ExitUsage, "whir plan --vars 20 --arity 3"},
	{ExitUsage, "whir plan --vars 20 --bound capacity"},
	{ExitUsage, "whir plan --vars 20 --bits 129"},
	{ExitUsage, "whir plan --vars 24 --bits 124"},
	{ExitUsage, "whir plan --vars 24 --bits 126 --field koalabear"},
	{ExitUsage, "whir plan --vars 24 --bits 121 --fold-work 0"},
	{ExitUsage, "whir plan --vars 24 --bits 126 --extension 4 --field koalabear --hash blake3 --folds 6,5,5"},
	{ExitUsage, "whir plan --vars 20 --fold-work 31"},
	{ExitUsage, "whir plan --vars 20 --machine abacus"},
	{ExitUsage, "whir plan --vars 20 --rate 31"},
	{ExitUsage, "whir plan --vars 20 --shrinks 2"},
	{ExitUsage, "whir plan --vars 20 --folds 4,4,4 --shrinks 1"},
	{ExitUsage, "whir plan --vars 20 --folds 4,4,4 --shrinks 1,5"},
	{ExitUsage, "whir plan --vars 20 --folds 4,4"},
	{ExitUsage, "whir plan --vars 20 --folds 4,x"},
	{ExitUsage, "whir plan --vars 20 --tables 2"},
	{ExitUsage, "whir plan --vars 20 --field cm31 --tables 2 --johnson-start"},
	{ExitUsage, "whir commit -o @/n"},
	{ExitUsage, "whir commit random:1 --vars 8"},
	{ExitUsage, "whir commit random:1 -o @/n"},
	{ExitUsage, "whir commit random:1 --vars 31 -o @/n"},
	{ExitUsage, "whir commit random:1 --vars 8 -o @/w"},
	{ExitUsage, "whir commit random:1 --vars 8 -o -"},
	{ExitUsage, "whir open @/w.whirkey"},
	{ExitUsage, "whir open @/w.whirkey -o @/n"},
	{ExitUsage, "whir open @/w.whirkey --point 1,2 -o @/n"},
	{ExitUsage, "whir open @/w.whirkey --point 1,2,3,4,5,6,7,1:x -o @/n"},
	{ExitUsage, "whir open @/w.whirkey --point 1,2,3,4,5,6,7,2147483647 -o @/n"},
	{ExitUsage, "whir open @/w.whirkey --point 1,2,3,4,5,6,7,1:2:3:4:5 -o @/n"},
	{ExitUsage, "whir open @/w.whirkey --univariate 5 -o @/n"},
	{ExitUsage, "whir open @/w.whirkey --point random:1 --point random:2 --point random:3 -o @/n"},
	{ExitUsage, "whir open @/w.whirkey --point random:1 -o - --bundle -"},
	{ExitUsage, "whir open @/w.whirkey --point random:1 -o @/w.proof"},
	{ExitUsage, "whir verify @/w.whir @/w.proof"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --dim batch"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --dim batch=0"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --dim batch=1 --dim batch=2"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --const mask"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --const mask=nan"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --const mask=1 --const mask=2"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --const mask=1"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --range x=1"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --range x=2:1"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --range x=0:1 --range x=0:1"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --range x=0:9"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --select nothing"},
	{ExitUsage, "prove --key @/m.pk --input y=@/x.json -o @/n"},
	{ExitUsage, "demo --image 200"},
	{ExitUsage, "bench nothing"},
	{ExitUsage, "bench card --case ("},
	{ExitUsage, "bench card --case copy --record --samples 1"},
	{ExitUsage, "bench card --case copy --samples 0"},
	{ExitUsage, "bench card --case copy --samples 9223372036854775807"},
	{ExitUsage, "bench report"},
	{ExitUsage, "prove-model --model @/m.onnx --input @/x.json --gpu --multi-gpu"},
	{ExitUsage, "prove-model --model @/m.onnx --input @/x.json --chunk-budget-gb -1"},
	{ExitUsage, "prove-model --model @/m.onnx --input @/x.json --layers 0:3"},
	{ExitUsage, "prove --key @/m.pk --input @/x.json -o @/n --gpu --device cpu"},
	{ExitUsage, "prove --key @/m.pk --input @/x.json -o @/n --keep-parts"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --layers 0:3 --parts 2"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --layers 3"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --layers 0:9"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --layers 0:2,2:4"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --layers 0:2,3:6"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --parts -1"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --chunk-budget-gb 0"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --residual-bits 17"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --percentile 50"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --labels red,green"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --layers 0:3"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --tokens 3"},
	{ExitUsage, "verify --key @/m.vk --input @/x.json --output @/x.out.json @/x.proof @/x.proof"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --commit-input y"},
	{ExitUsage, "setup @/m.onnx --calibration @/m.zkcal -o @/n --commit-output x"},
	{ExitUsage, "commit"},
	{ExitUsage, "commit --key @/c.vk --input @/x.json -o -"},
	{ExitUsage, "commit --key @/c.vk --input @/x.json -o @/c"},
	{ExitUsage, "commit --key @/m.vk --input @/x.json -o @/n"},
	{ExitUsage, "prove --key @/c.pk -o @/n"},
	{ExitUsage, "prove --key @/m.pk --opening @/c.opening -o @/n"},
	{ExitUsage, "prove --key @/m.pk --input @/x.json --secret-output @/s.json -o @/n"},
	{ExitUsage, "prove --key @/c.pk --opening x=@/c.opening --opening x=@/c.opening -o @/n"},
	{ExitUsage, "verify --key @/m.vk --commitment @/c.commitment --input @/x.json --output @/x.out.json @/x.proof"},
	{ExitUsage, "verify --key @/c.vk --output @/c.out.json @/c.proof"},
	{ExitUsage, "verify --key @/c.vk --commitment @/c.commitment @/c.proof"},
	{ExitUsage, "verify --key @/c.vk --commitment @/c.commitment --input @/x.json --output @/c.out.json @/c.proof"},
	{ExitUsage, "verify --key @/c.vk --commitment @/c.commitment --commitment @/c.commitment --output @/c.out.json @/c.proof"},
	{ExitUsage, "link @/m.vk"},
	{ExitUsage, "link -o @/n"},
	{ExitInput, "link @/m.vk @/m.pk -o @/n"},
	{ExitInput, "prove --key @/m.pk --chain @/m.vk --input @/x.json -o @/n"},
	{ExitInput, "prove --key @/none --input @/x.json -o @/n"},
	{ExitInput, "inspect @/none"},
	{ExitInput, "calibrate @/none --data @/x.json --tokens 3 -o @/n"},

	{ExitInput, "bench whir --device cpu --case p3-whir-ratio"},
	{ExitInput, "inspect @/x.json"},
	{ExitInput, "inspect @/absent"},
	{ExitInput, "inspect @"},
	{ExitInput, "inspect @/empty"},
	{ExitInput, "inspect @/text"},
	{ExitInput, "inspect @/head.proof"},
	{ExitInput, "inspect @/short.proof"},
	{ExitInput, "inspect @/odd.proof"},
	{ExitInput, "inspect --key @/m.vk @/half.proof"},
	{ExitInput, "inspect --key @/m.vk @/foreign.proof"},
	{ExitInput, "calibrate @/text --data @/x.json -o @/n"},
	{ExitInput, "calibrate @/m.onnx --data @/absent -o @/n"},
	{ExitInput, "calibrate @/m.onnx --data @/none -o @/n"},
	{ExitInput, "calibrate @/m.onnx --data @/nan.npy -o @/n"},
	{ExitInput, "calibrate @/m.onnx --data @/x.json -o @/absent/n"},
	{ExitInput, "setup @/m.onnx --calibration @/m.onnx -o @/n"},
	{ExitInput, "setup @/other.onnx --calibration @/m.zkcal -o @/n"},
	{ExitInput, "prove --key @/m.vk --input @/x.json -o @/n"},
	{ExitInput, "prove --key @/text --input @/x.json -o @/n"},
	{ExitInput, "prove --key @/m.pk --input @/shape.json -o @/n"},
	{ExitInput, "prove --key @/m.pk --input @/nan.json -o @/n"},
	{ExitInput, "prove --key @/m.pk --input @/nan.npy -o @/n"},
	{ExitInput, "prove --key @/m.pk --input @/huge.npy -o @/n"},
	{ExitInput, "prove --key @/m.pk --input @/range.json -o @/n"},
	{ExitInput, "prove --key @/m.pk --input @/extra.json -o @/n"},
	{ExitInput, "prove --key @/m.pk --input @/two.npy -o @/n"},
	{ExitInput, "prove --key @/m.pk --input @/named.json -o @/n"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --const y=1"},
	{ExitUsage, "calibrate @/m.onnx --data @/x.json -o @/n --select y"},
	{ExitInput, "mock --key @/m.pk --input @/text"},
	{ExitInput, "security @/x.proof"},
	{ExitInput, "verify --key @/m.pk --input @/x.json --output @/x.out.json @/x.proof"},
	{ExitInput, "verify --key @/m.vk --input @/x.json --output @/x.out.json @/m.vk"},
	{ExitInput, "verify --key @/m.vk --input @/x.json --output @/x.out.json @/short.proof"},
	{ExitInput, "verify --key @/m.vk --input @/x.json --output @/x.out.json @/future.proof"},
	{ExitInput, "verify --key @/future.vk --input @/x.json --output @/x.out.json @/x.proof"},
	{ExitInput, "verify --key @/short.vk --input @/x.json --output @/x.out.json @/x.proof"},
	{ExitInput, "verify --key @/m.vk --input @/x.json --output @/x.json @/x.proof"},
	{ExitInput, "verify --key @/m.vk --input @/x.json --output @/few.out.json @/x.proof"},
	{ExitInput, "commit --key @/text --input @/x.json -o @/n"},
	{ExitInput, "commit --key @/c.vk --input @/shape.json -o @/n"},
	{ExitInput, "commit --key @/c.vk --input @/range.json -o @/n"},
	{ExitInput, "prove --key @/c.pk --opening @/absent -o @/n"},
	{ExitInput, "prove --key @/c.pk --opening @/text -o @/n"},
	{ExitInput, "prove --key @/c.pk --opening @/c.commitment -o @/n"},
	{ExitInput, "prove --key @/c.pk --opening @/short.opening -o @/n"},
	{ExitInput, "prove --key @/c.pk --opening @/foreign.opening -o @/n"},
	{ExitInput, "prove --key @/c.pk --opening @/far.opening -o @/n"},
	{ExitInput, "prove --key @/c.pk --opening @/other.opening --input @/x.json -o @/n"},
	{ExitInput, "verify --key @/c.vk --commitment @/text --output @/c.out.json @/c.proof"},
	{ExitInput, "verify --key @/c.vk --commitment @/c.opening --output @/c.out.json @/c.proof"},
	{ExitInput, "verify --key @/c.vk --commitment @/short.commitment --output @/c.out.json @/c.proof"},
	{ExitInput, "verify --key @/c.vk --opening @/short.opening --output @/c.out.json @/c.proof"},
	{ExitInput, "inspect @/short.commitment"},
	{ExitInput, "inspect @/short.opening"},
	{ExitInput, "inspect @/future.opening"},
	{ExitInput, "security @/c.commitment"},
	{ExitRejected, "verify --key @/c.vk --commitment @/foreign.commitment --output @/c.out.json @/c.proof"},
	{ExitRejected, "verify --key @/c.vk --commitment @/other.commitment --output @/c.out.json @/c.proof"},
	{ExitRejected, "verify --key @/c.vk --opening @/far.opening --output @/c.out.json @/c.proof"},
	{ExitRejected, "verify --key @/c.vk --opening @/other.opening --output @/c.out.json @/c.proof"},
	{ExitRejected, "verify --key @/c.vk --opening @/other.opening --commitment @/c.commitment --output @/c.out.json @/c.proof"},
	{ExitInput, "bench merge @/text"},
	{ExitInput, "bench merge @/rows.json"},
	{ExitInput, "bench report --results @/none -o @/n"},

	{ExitInput, "whir commit @/absent -o @/n"},
	{ExitInput, "whir commit @/odd.u32 -o @/n"},
	{ExitInput, "whir commit @/big.u32 -o @/n"},
	{ExitInput, "whir commit @/three.u32 -o @/n"},
	{ExitInput, "whir commit @/nan.npy -o @/n"},
	{ExitInput, "whir commit @/minus.npy -o @/n"},
	{ExitInput, "whir commit @/four.u32 @/two.u32 --field cm31 -o @/n"},
	{ExitInput, "whir commit @/four.u32 --vars 3 -o @/n"},
	{ExitInput, "whir open @/w.whir --point random:1 -o @/n"},
	{ExitInput, "whir open @/x.proof --point random:1 -o @/n"},
	{ExitInput, "whir open @/short.whirkey --point random:1 -o @/n"},
	{ExitInput, "whir open @/moved.whirkey --point random:1 -o @/n"},
	{ExitInput, "whir open @/changed.whirkey --point random:1 -o @/n"},
	{ExitInput, "whir open @/w.whirkey --claims @/false.claims.json -o @/n"},
	{ExitInput, "whir open @/w.whirkey --point random:1 --claims @/false.claims.json -o @/n"},
	{ExitInput, "security @/w.whir"},
	{ExitInput, "whir open @/w.whirkey --claims @/x.json -o @/n"},
	{ExitInput, "whir open @/w.whirkey --claims @/few.claims.json -o @/n"},
	{ExitInput, "whir open @/w.whirkey --point @@/text -o @/n"},
	{ExitInput, "whir verify @/w.whirkey @/w.claims.json @/w.proof"},
	{ExitInput, "whir verify @/w.whir @/x.json @/w.proof"},
	{ExitInput, "whir verify @/w.whir @/w.claims.json @/x.proof"},
	{ExitInput, "whir verify @/w.whir @/w.claims.json @/short.wproof"},
	{ExitInput, "whir verify @/w.whir @/w.claims.json @/long.wproof"},
	{ExitInput, "whir verify @/w.whir @/w.claims.json @/future.wproof"},
	{ExitInput, "whir verify @/short.whir @/w.claims.json @/w.proof"},
	{ExitInput, "whir verify @/w.whir @/few.claims.json @/w.proof"},
	{ExitInput, "whir verify @/short.bundle"},
	{ExitInput, "inspect @/short.whir"},
	{ExitInput, "inspect @/short.bundle"},
	{ExitInput, "inspect @/future.wproof"},
	{ExitRejected, "whir verify @/w.whir @/other.claims.json @/w.proof"},
	{ExitRejected, "whir verify @/other.whir @/w.claims.json @/w.proof"},
	{ExitRejected, "whir verify @/100.whir @/w.claims.json @/w.proof"},

	{ExitUnsupported, "calibrate @/op.onnx --data @/x.json -o @/n"},
	{ExitUnsupported, "inspect @/op.onnx"},
	{ExitDevice, "prove --device cuda:99 --key @/m.pk --input @/x.json -o @/n"},
	{ExitDevice, "whir commit --device cuda:99 random:1 --vars 8 -o @/n"},
	{ExitDevice, "doctor --device foo"},
	{ExitDevice, "prove --device tpu --key @/m.pk --input @/x.json -o @/n"},
	{ExitMemory, "prove --memory-budget 1KiB --device simt --key @/m.pk --input @/x.json -o @/n"},
}

// badFiles puts spoiled files beside the good ones.
func badFiles(t *testing.T, dir string) {
	t.Helper()
	put := func(name string, data []byte) { writeFile(t, filepath.Join(dir, name), data) }
	good := func(name string) []byte { return readBytes(t, filepath.Join(dir, name)) }
	version := func(data []byte, v uint32) []byte {
		data = slices.Clone(data)
		binary.LittleEndian.PutUint32(data[8:], v)
		return data
	}
	npy := npyOf
	put("empty", nil)
	put("text", []byte("this is no artefact\nof ours"))
	put("short.commitment", good("c.commitment")[:60])
	put("short.opening", good("c.opening")[:80])
	put("future.opening", version(good("c.opening"), 99))
	commitment, opening := good("c.commitment"), good("c.opening")
	commitment[44] ^= 1 // of the root
	put("other.commitment", commitment)
	commitment[12] ^= 1 // of the format
	put("foreign.commitment", commitment)
	opening[12] ^= 1
	put("foreign.opening", opening)
	opening[12] ^= 1
	opening[80] ^= 1 // of the first value, after format, salt and number
	put("other.opening", opening)
	opening[83] ^= 1
	put("far.opening", opening)
	put("shape.json", []byte(`{"input_data": [[1, 2, 3]]}`))
	put("nan.json", []byte(`{"input_data": [[[0.5, NaN], [1, 0]]]}`))
	put("range.json", []byte(`{"input_data": [[[0.5, 1e6], [1, 0]]]}`))
	put("extra.json", []byte(`{"input_data": [[[0.5, 0], [1, 0]]], "more": 1}`))
	put("named.json", []byte(`{"y": [[0.5, 0], [1, 0]]}`))
	put("nan.npy", npy("<f4", "4,", []byte{0, 0, 0, 0, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0}))
	put("huge.npy", npy("<f4", "1000000, 1000000", []byte{0, 0, 0, 0}))
	put("two.npy", npy("|u1", "2, 4", make([]byte, 8)))
	put("short.proof", good("x.proof")[:100])
	put("head.proof", good("x.proof")[:40])
	proof := good("x.proof")
	put("odd.proof", proof[:len(proof)-1])
	put("half.proof", proof[:len(proof)/8*4])
	foreign := slices.Clone(proof)
	foreign[12]++ // in the key's digest
	put("foreign.proof", foreign)
	put("future.proof", version(good("x.proof"), 9))
	put("future.vk", version(good("m.vk"), 9))
	put("short.vk", good("m.vk")[:200])
	put("few.out.json", []byte(`{"output_data": [[1, 2]]}`))
	put("odd.u32", []byte{1, 0, 0})
	put("big.u32", []byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f})
	put("three.u32", make([]byte, 12))
	put("four.u32", make([]byte, 16))
	put("two.u32", make([]byte, 8))
	put("minus.npy", npy("|i1", "2,", []byte{1, 0xff}))
	put("short.whir", good("w.whir")[:100])
	put("short.whirkey", good("w.whirkey")[:100])
	put("short.wproof", good("w.proof")[:1000])
	put("long.wproof", append(slices.Clone(good("w.proof")), 0, 0, 0, 0))
	put("future.wproof", version(good("w.proof"), 9))
	put("short.bundle", good("w.bundle")[:1000])
	put("few.claims.json", []byte(`{"format": "zkwarp whir claims 1", "claims": [{"kind": "eval", "point": [1, 2], "values": [3]}]}`))
	claims := string(good("w.claims.json"))
	at := strings.Index(claims, `"values": [[`) + len(`"values": [[`)
	changed := claims[:at] + "1,2,3,4]" + claims[at+strings.Index(claims[at:], "]")+1:]
	put("false.claims.json", []byte(changed))
	put("other.claims.json", []byte(changed))
	other := slices.Clone(good("w.whir"))
	other[len(other)-4] ^= 1 // in the root
	put("other.whir", other)
	for name, table := range map[string]string{"moved": "elsewhere.u32", "changed": "two.u32"} {
		k, err := whirfile.DecodeKey(good("w.whirkey"))
		if err != nil {
			t.Fatal(err)
		}
		k.Tables[0] = whirfile.Table{Source: whirfile.File, Name: table}
		put(name+".whirkey", k.Encode())
	}
	must(t, "whir", "commit", "random:1", "--vars", "8", "--claims", "2", "--bits", "81", "-o", filepath.Join(dir, "100"))
	put("rows.json", []byte(`[{"suite": "m31"}]`))
	other = slices.Clone(good("m.onnx"))
	other[bytes.Index(other, []byte("\x42\x02w1"))+10]++ // in a weight, which follows the name
	put("other.onnx", other)
	put("op.onnx", bytes.ReplaceAll(good("m.onnx"), []byte("Sigmoid"), []byte("Sinhoid")))
	if err := os.Mkdir(filepath.Join(dir, "none"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// copyShared copies the good files, so that a test can add to them.
func copyShared(t *testing.T) string {
	t.Helper()
	from, to := small(t), t.TempDir()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		writeFile(t, filepath.Join(to, e.Name()), readBytes(t, filepath.Join(from, e.Name())))
	}
	return to
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// sizes are the numbers in messages that change with every change of the protocol: lengths of proofs and keys, and digests of keys.
var sizes = regexp.MustCompile(`((?:added: |truncated: |want |another key \(|this one is |a commitment of format |an opening of format ))(?:\d{4,}|[0-9a-f]{8})( bytes after|$|\n|\.\.\.| bytes left)`)

// TestErrors runs every failing command, holds it to its exit code, to one
// line of error, to no output and no new file, and compares all messages with
// the committed ones.
func TestErrors(t *testing.T) {
	t.Setenv("ZKWARP_P3_WHIR", "")
	dir := copyShared(t)
	badFiles(t, dir)
	before := names(t, dir)
	var got strings.Builder
	for _, c := range errorCases {
		args := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(c.args, "@", dir), dir+dir, "@"+dir))
		if strings.Contains(c.args, "--device simt") && noEmulator() {
			continue
		}
		r := run(t, args...)
		if r.code != c.code {
			t.Errorf("zkwarp %s: exit %d, want %d: %s", c.args, r.code, c.code, r.err)
		}
		if r.out != "" {
			t.Errorf("zkwarp %s: printed %q", c.args, r.out)
		}
		oneErrorLine(t, r)
		if after := names(t, dir); !slices.Equal(before, after) {
			t.Fatalf("zkwarp %s: left %v", c.args, after)
		}
		if c.code != ExitDevice && c.code != ExitMemory { // those depend on the machine
			fmt.Fprintf(&got, "$ zkwarp %s\n[%d] %s\n", c.args, r.code, sizes.ReplaceAllString(strings.ReplaceAll(r.err, dir, "@"), "${1}N$2"))
		}
	}
	const golden = "testdata/errors.txt"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := string(readBytes(t, golden))
	if got.String() == want {
		return
	}
	g, w := strings.Split(got.String(), "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("messages differ from %s at line %d (go test -update rewrites it):\n got %s\nwant %s", golden, i+1,
				strings.Join(g[i:min(i+1, len(g))], ""), strings.Join(w[i:min(i+1, len(w))], ""))
		}
	}
}

// Every truncation and every flipped bit of every artefact is refused, without
// a panic, on one line: as malformed or as rejected, never accepted.
func TestSpoiledArtefacts(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	spoiled := filepath.Join(temp, "spoiled")
	commands := map[string][]string{
		"m.vk":         verifyArgs(dir, map[string]string{"m.vk": spoiled}),
		"x.proof":      verifyArgs(dir, map[string]string{"x.proof": spoiled}),
		"m.pk":         {"mock", "--key", spoiled, "--input", filepath.Join(dir, "x.json")},
		"m.zkcal":      {"inspect", spoiled},
		"c.commitment": {"verify", "--key", filepath.Join(dir, "c.vk"), "--commitment", spoiled, "--output", filepath.Join(dir, "c.out.json"), filepath.Join(dir, "c.proof")},
		"c.opening":    {"verify", "--key", filepath.Join(dir, "c.vk"), "--opening", spoiled, "--output", filepath.Join(dir, "c.out.json"), filepath.Join(dir, "c.proof")},
		"w.whir":       {"whir", "verify", spoiled, filepath.Join(dir, "w.claims.json"), filepath.Join(dir, "w.proof")},
		"w.proof":      {"whir", "verify", filepath.Join(dir, "w.whir"), filepath.Join(dir, "w.claims.json"), spoiled},
		"w.bundle":     {"whir", "verify", spoiled},
		"w.whirkey":    {"whir", "open", spoiled, "--point", "random:5", "-o", filepath.Join(temp, "n.proof"), "--force"},
	}
	for name, args := range commands {
		good := readBytes(t, filepath.Join(dir, name))
		check := func(what string, data []byte, codes ...int) {
			t.Helper()
			writeFile(t, spoiled, data)
			r := run(t, args...)
			if !slices.Contains(codes, r.code) {
				t.Errorf("%s, %s: exit %d: %s%s", name, what, r.code, r.out, r.err)
			}
			oneErrorLine(t, r)
		}
		for i := range 8 {
			n := len(good) * i / 8
			check(fmt.Sprintf("cut to %d bytes", n), good[:n], ExitInput)
		}
		check("one byte more", append(slices.Clone(good), 0), ExitInput)
		if name == "m.zkcal" {
			continue // its numbers are its content: any finite ones are a calibration
		}
		for i := range 24 {
			bad := slices.Clone(good)
			at := len(bad) * i / 24
			bad[at] ^= 1 << (i % 8)
			check(fmt.Sprintf("bit %d of byte %d flipped", i%8, at), bad, ExitInput, ExitRejected)
		}
	}
}

func noEmulator() bool {
	_, err := exec.LookPath("g++")
	return err != nil
}
