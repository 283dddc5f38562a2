package cli

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/examples/digits"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

// demoImage is shown unless another is asked for: a seven with a bar.
const demoImage = 147

func (a *app) demoCommand() *cobra.Command {
	var (
		image int
		out   string
	)
	c := &cobra.Command{
		Use:   "demo",
		Short: "Prove what a network reads in a handwritten digit, and show that forgeries are rejected",
		Long: "Needs nothing: the network and 200 images that it was not trained on are built in. Proofs are succinct and binding;\n" +
			"they are not zero-knowledge.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &demo{app: a, ctx: cmd.Context(), image: image, out: out}
			return d.run()
		},
	}
	c.Flags().IntVar(&image, "image", demoImage, "which of the 200 test images, from 0")
	c.Flags().StringVar(&out, "out", "", "folder to leave keys, input, output and proof in")
	return c
}

// demo is one run of the demo verb.
type demo struct {
	*app
	ctx   context.Context
	image int
	out   string

	images  []digits.Image
	labels  []int
	model   *onnx.Model
	program *graph.Program
	weights *graph.Weights
	vk      *zkml.VerifyingKey
	pk      *zkprover.ProvingKey
	x       []int32
	proved  *proved
	answer  *zkmlfile.Answer
	verify  time.Duration
	result  demoResult
}

// demoResult is the object that demo --json prints.
type demoResult struct {
	Device           string      `json:"device"`
	Verified         bool        `json:"verified"`
	TamperedRejected bool        `json:"tampered_rejected"`
	ProveMS          float64     `json:"prove_ms"`
	VerifyMS         float64     `json:"verify_ms"`
	ProofBytes       int         `json:"proof_bytes"`
	SecurityBits     float64     `json:"security_bits"`
	SecurityMinRound float64     `json:"security_bits_min_round"`
	AccuracyFloat    float64     `json:"accuracy_float"`
	AccuracyInteger  float64     `json:"accuracy_integer"`
	ProofSHA256      string      `json:"proof_sha256"`
	Rejections       rejections  `json:"rejections"`
	Details          demoDetails `json:"details"`
}

// rejections holds the reasons why the three forgeries were not accepted.
type rejections struct {
	Answer    string `json:"answer"`
	Weight    string `json:"weight"`
	ProofByte string `json:"proof_byte"`
}

// demoDetails is what else a run shows.
type demoDetails struct {
	Card    string             `json:"card"`
	Image   int                `json:"image"`
	Label   int                `json:"label"`
	Answer  int                `json:"answer"`
	SetupMS float64            `json:"setup_ms"`
	Stages  map[string]float64 `json:"stages_ms"`
	Work    map[string]any     `json:"work"` // what the device did for the proof
}

func (d *demo) run() error {
	if err := d.load(); err != nil {
		return err
	}
	if err := d.prepare(); err != nil {
		return err
	}
	d.draw()
	if err := d.prove(); err != nil {
		return err
	}
	if err := d.tamper(); err != nil {
		return err
	}
	if d.out != "" {
		if err := d.leave(); err != nil {
			return err
		}
	}
	if d.json {
		if err := d.printJSON(d.result); err != nil {
			return err
		}
	}
	if !d.result.Verified || !d.result.TamperedRejected {
		return rejected("the demo did not go as it must: verified %t, forgeries rejected %t", d.result.Verified, d.result.TamperedRejected)
	}
	return nil
}

// load takes the model and the images out of the binary.
func (d *demo) load() (err error) {
	if d.images, d.labels, err = digits.Test(); err != nil {
		return err
	}
	if d.image < 0 || d.image >= len(d.images) {
		return usageError("--image %d: want 0 to %d", d.image, len(d.images)-1)
	}
	if d.out != "" {
		if err := d.temps.folder(d.out); err != nil {
			return err
		}
		if err := d.checkOutputs(d.files()...); err != nil {
			return err
		}
	}
	d.model, err = onnx.Parse(digits.Model, onnx.Options{})
	return modelError(digits.ModelName, err)
}

func (d *demo) files() []string {
	var out []string
	for _, name := range []string{"digits.vk", "digits.pk", "input.json", "output.json", "digits.proof"} {
		out = append(out, filepath.Join(d.out, name))
	}
	return out
}

// prepare calibrates, measures accuracy, and makes the keys.
func (d *demo) prepare() error {
	p := d.startProgress("calibrate", 2)
	p.begin("calibration")
	samples, err := digits.Samples()
	if err != nil {
		return err
	}
	cal, _, err := quant.Calibrate(d.model, samples, quant.Options{Labels: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}})
	if err != nil {
		return modelError(digits.ModelName, err)
	}
	if d.program, d.weights, err = quant.Build(d.model, cal); err != nil {
		return modelError(digits.ModelName, err)
	}
	p.begin("accuracy")
	err = d.accuracy()
	p.end()
	if err != nil {
		return err
	}
	d.say("model    %s: 784-128-10, %s weights; accuracy %.1f %% float, %.1f %% integer on %d images", digits.ModelName,
		grouped(int64(d.model.Weights())), 100*d.result.AccuracyFloat, 100*d.result.AccuracyInteger, len(d.images))
	var took time.Duration
	if d.vk, d.pk, took, err = d.setupKeys(d.ctx, d.device, d.program, d.weights, zkprover.SetupOptions{}); err != nil {
		return err
	}
	d.result.Details.SetupMS = milliseconds(took)
	d.say("setup    keys in %s", durationText(took))
	d.x, err = quant.QuantizeInput(d.program, d.images[d.image].Values())
	return err
}

// accuracy counts on all test images how often the float model and the
// integer program are right.
func (d *demo) accuracy() error {
	float, integer := 0, 0
	shape := d.program.Tensor(d.program.Outputs[0]).Shape
	for i := range d.images {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		x := d.images[i].Values()
		values, err := d.model.RunOne(x)
		if err != nil {
			return err
		}
		scores := values[d.model.Outputs[0]]
		if int(graph.ArgMax(scores, []int{len(scores)}, 0, false)[0]) == d.labels[i] {
			float++
		}
		q, err := quant.QuantizeInput(d.program, x)
		if err != nil {
			return err
		}
		tensors, err := graph.Run(d.program, d.weights, q)
		if err != nil {
			return err
		}
		y := tensors[d.program.Outputs[0]]
		if int(graph.ArgMax(y, shape, len(shape)-1, false)[0]) == d.labels[i] {
			integer++
		}
	}
	d.result.AccuracyFloat = float64(float) / float64(len(d.images))
	d.result.AccuracyInteger = float64(integer) / float64(len(d.images))
	return nil
}

// prove makes the proof and checks it.
func (d *demo) prove() error {
	var err error
	if d.proved, err = d.proveOnce(d.ctx, d.device, d.pk, d.x, nil, nil); err != nil {
		return err
	}
	r := &d.result
	if d.answer, err = zkmlfile.NewAnswer(d.program, d.proved.Y); err != nil {
		return err
	}
	digest := sha256.Sum256(d.proved.Proof)
	security := zkml.Security(d.vk)
	r.Device, r.Details.Card = d.proved.device.Name(), d.proved.device.Info().String()
	r.Details.Image, r.Details.Label, r.Details.Answer = d.image, d.labels[d.image], *d.answer.Answer
	r.ProveMS, r.ProofBytes, r.ProofSHA256 = milliseconds(d.proved.time), len(d.proved.Proof), hexText(digest[:])
	r.SecurityBits, r.SecurityMinRound = security.Sum, security.Min
	r.Details.Stages, r.Details.Work = stageObject(d.proved.Timings), countsObject(d.proved)
	d.say("device   %s", r.Details.Card)
	d.say("prove    the network says %d (the image shows %d)", r.Details.Answer, r.Details.Label)
	d.say("         %s  total %s", stageText(d.proved.Timings), durationText(d.proved.time))
	d.say("proof    %s, %.1f bits (union; weakest step %.1f), binding, not zero-knowledge", sizeText(int64(r.ProofBytes)), r.SecurityBits, r.SecurityMinRound)
	start := time.Now()
	err = zkml.Verify(d.vk, d.x, d.proved.Y, d.proved.Proof, nil)
	d.verify = time.Since(start)
	r.VerifyMS = milliseconds(d.verify)
	r.Verified = err == nil
	if err != nil {
		d.say("verify   rejected: %s", oneLine(err.Error()))
	} else {
		d.say("verify   accepted in %s", durationText(d.verify))
	}
	return nil
}

// leave writes everything that a separate verification needs.
func (d *demo) leave() error {
	names := d.files()
	keys := keyFiles(d.vk, d.pk, names[0], names[1])
	input, err := encodeJSON(map[string][][]float64{"input_data": {d.images[d.image].Values()}})
	if err != nil {
		return err
	}
	answer, err := d.answer.Encode()
	if err != nil {
		return err
	}
	outputs := append(keys, output{path: names[2], data: input}, output{path: names[3], data: answer}, output{path: names[4], data: d.proved.Proof})
	if err := d.write(outputs...); err != nil {
		return err
	}
	d.say("written  %s: check it with", d.out)
	d.say("         zkwarp verify --key %s --input %s --output %s %s", names[0], names[2], names[3], names[4])
	return nil
}
