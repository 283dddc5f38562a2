package quant

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// TestFunctions compares the software functions with values computed to 50 digits by mpmath, and their float64 twins too.
func TestFunctions(t *testing.T) {
	for _, c := range []struct {
		u    unary
		x    float64
		want string
	}{
		{unary{fn: onnx.FuncSigmoid, a: 0, b: 0}, -20, "0.0000000020611536181902035814308621294745926907524900188693"},
		{unary{fn: onnx.FuncSigmoid, a: 0, b: 0}, -3.5, "0.02931223075135631886528955811418158389418212979838"},
		{unary{fn: onnx.FuncSigmoid, a: 0, b: 0}, -0.001, "0.4997500000208333312447960416865826754307945750456"},
		{unary{fn: onnx.FuncSigmoid, a: 0, b: 0}, 0, "0.5"},
		{unary{fn: onnx.FuncSigmoid, a: 0, b: 0}, 0.3, "0.57444251681165898443803880323406032293963748172017"},
		{unary{fn: onnx.FuncSigmoid, a: 0, b: 0}, 7.25, "0.99929032960089941184448939533209147394797611822557"},
		{unary{fn: onnx.FuncSigmoid, a: 0, b: 0}, 150, "1.0"},
		{unary{fn: onnx.FuncTanh, a: 0, b: 0}, -20, "-0.99999999999999999150329148941682204543855819119099"},
		{unary{fn: onnx.FuncTanh, a: 0, b: 0}, -0.001, "-0.00099999966666680002076269266295507689587056308847818"},
		{unary{fn: onnx.FuncTanh, a: 0, b: 0}, 0.3, "0.29131261245159089565816001576939894826172203912786"},
		{unary{fn: onnx.FuncTanh, a: 0, b: 0}, 1, "0.76159415595576488811945828260479359041276859725794"},
		{unary{fn: onnx.FuncTanh, a: 0, b: 0}, 19.9, "0.99999999999999998962209678989068838086446449014202"},
		{unary{fn: onnx.FuncElu, a: 0.75, b: 0}, -30, "-0.74999999999992981782773369869046313125832465969941"},
		{unary{fn: onnx.FuncElu, a: 0.75, b: 0}, -1.5, "-0.58265237988867762830003964692699060899337127797919"},
		{unary{fn: onnx.FuncElu, a: 0.75, b: 0}, -0.0001, "-0.000074996250124996878656269765087534355932850062210176"},
		{unary{fn: onnx.FuncElu, a: 0.75, b: 0}, 2, "2.0"},
		{unary{fn: onnx.FuncSelu, a: 1.6732632, b: 1.050701}, -2, "-1.5201664484108091733764840820826560249471349409094"},
		{unary{fn: onnx.FuncSelu, a: 1.6732632, b: 1.050701}, 0.5, "0.5253505000000000535465005668811500072479248046875"},
		{unary{fn: onnx.FuncGelu, a: 0, b: 0}, -9, "-1.0157295653584565829619518683718725321820377107363e-18"},
		{unary{fn: onnx.FuncGelu, a: 0, b: 0}, -4, "-0.00012668496733247968501508302688860519377533350192111"},
		{unary{fn: onnx.FuncGelu, a: 0, b: 0}, -0.75, "-0.1699705142826511494952966270376073088267986949067"},
		{unary{fn: onnx.FuncGelu, a: 0, b: 0}, 0.1, "0.053982783727702901363539862163012471086368889557524"},
		{unary{fn: onnx.FuncGelu, a: 0, b: 0}, 1, "0.8413447460685429485852325456320379224779129667266"},
		{unary{fn: onnx.FuncGelu, a: 0, b: 0}, 3, "2.9959503059051097164200445556972150678665118955249"},
		{unary{fn: onnx.FuncGeluTanh, a: 0, b: 0}, -4, "-0.000070245948192372705572465305469002307011558436434394"},
		{unary{fn: onnx.FuncGeluTanh, a: 0, b: 0}, -0.75, "-0.17003944483437969601024728748805643830446539147858"},
		{unary{fn: onnx.FuncGeluTanh, a: 0, b: 0}, 0.1, "0.053982751045435167588124958029045110372169851834872"},
		{unary{fn: onnx.FuncGeluTanh, a: 0, b: 0}, 3, "2.9963626079182269808184407661109124363482708647096"},
		{unary{fn: onnx.FuncSilu, a: 1.702, b: 0}, -5, "-0.0010070162673523691543206089415104938935566542012244"},
		{unary{fn: onnx.FuncSilu, a: 1.702, b: 0}, -1.25, "-0.13306569855683068218951108142976827283003144759137"},
		{unary{fn: onnx.FuncSilu, a: 1.702, b: 0}, 0.5, "0.35038843660638012093497085321418620617197742952762"},
		{unary{fn: onnx.FuncSilu, a: 1.702, b: 0}, 4, "3.9955852758604189378892764177871610219889140953316"},
		{unary{fn: onnx.FuncErf, a: 0, b: 0}, -8.5, "-0.99999999999999999999999999999999723767592866622855"},
		{unary{fn: onnx.FuncErf, a: 0, b: 0}, -2, "-0.99532226501895273416206925636725292861089179704006"},
		{unary{fn: onnx.FuncErf, a: 0, b: 0}, -0.001, "-0.0011283787909692364034375641393714896418234990768826"},
		{unary{fn: onnx.FuncErf, a: 0, b: 0}, 0.5, "0.52049987781304653768274665389196452873645157575796"},
		{unary{fn: onnx.FuncErf, a: 0, b: 0}, 1, "0.8427007929497148693412206350826092592960669979663"},
		{unary{fn: onnx.FuncErf, a: 0, b: 0}, 5, "0.99999999999846254020557196514981165651461662110988"},
		{unary{fn: onnx.FuncExp, a: 0, b: 0}, -150, "7.1750959731644104198326929072089881884086882742441e-66"},
		{unary{fn: onnx.FuncExp, a: 0, b: 0}, -1, "0.36787944117144232159552377016146086744581113103177"},
		{unary{fn: onnx.FuncExp, a: 0, b: 0}, 0, "1.0"},
		{unary{fn: onnx.FuncExp, a: 0, b: 0}, 0.5, "1.6487212707001281468486507878141635716537761007101"},
		{unary{fn: onnx.FuncExp, a: 0, b: 0}, 9, "8103.0839275753840077099966894327599650114760878316"},
		{unary{fn: onnx.FuncLog, a: 0, b: 0}, 1e-09, "-20.723265836946411093880331634379423389011161961771"},
		{unary{fn: onnx.FuncLog, a: 0, b: 0}, 0.5, "-0.69314718055994530941723212145817656807550013436026"},
		{unary{fn: onnx.FuncLog, a: 0, b: 0}, 0.74, "-0.30110509278392162625306619390782411118671425526992"},
		{unary{fn: onnx.FuncLog, a: 0, b: 0}, 1, "0.0"},
		{unary{fn: onnx.FuncLog, a: 0, b: 0}, 1.0009765625, "0.00097608597305545889596082490801718667261183433378454"},
		{unary{fn: onnx.FuncLog, a: 0, b: 0}, 10, "2.3025850929940456840179914546843642076011014886288"},
		{unary{fn: onnx.FuncLog, a: 0, b: 0}, 12345678, "16.328816600273969028580758355124538671745138095967"},
		{unary{fn: onnx.FuncSqrt, a: 0, b: 0}, 0, "0.0"},
		{unary{fn: onnx.FuncSqrt, a: 0, b: 0}, 0.5, "0.70710678118654752440084436210484903928483593768847"},
		{unary{fn: onnx.FuncSqrt, a: 0, b: 0}, 2, "1.4142135623730950488016887242096980785696718753769"},
		{unary{fn: onnx.FuncSqrt, a: 0, b: 0}, 1000000.0, "1000.0"},
		{unary{fn: onnx.FuncReciprocal, a: 0, b: 0}, -3, "-0.33333333333333333333333333333333333333333333333333"},
		{unary{fn: onnx.FuncReciprocal, a: 0, b: 0}, 0.1, "9.9999999999999994448884876874217606030632761503618"},
		{unary{fn: onnx.FuncReciprocal, a: 0, b: 0}, 7, "0.14285714285714285714285714285714285714285714285714"},
		{unary{fn: onnx.FuncRsqrt, a: 0, b: 0}, 0.001, "31.62277660168379299084829776526147050334068770902"},
		{unary{fn: onnx.FuncRsqrt, a: 0, b: 0}, 2, "0.70710678118654752440084436210484903928483593768847"},
		{unary{fn: onnx.FuncRsqrt, a: 0, b: 0}, 100000.0, "0.0031622776601683793319988935444327185337195551393252"},
		{unary{fn: onnx.FuncSoftplus, a: 0, b: 0}, -30, "0.000000000000093576229688397367793776974246751577216180869198193"},
		{unary{fn: onnx.FuncSoftplus, a: 0, b: 0}, -1, "0.31326168751822283404899549496785564191528008567035"},
		{unary{fn: onnx.FuncSoftplus, a: 0, b: 0}, 0, "0.69314718055994530941723212145817656807550013436026"},
		{unary{fn: onnx.FuncSoftplus, a: 0, b: 0}, 2.5, "2.578889734292549623344043916717550997259079421067"},
		{unary{fn: onnx.FuncSoftplus, a: 0, b: 0}, 40, "40.000000000000000004248354255291588986304977843632"},
		{unary{fn: onnx.FuncSoftsign, a: 0, b: 0}, -3, "-0.75"},
		{unary{fn: onnx.FuncSoftsign, a: 0, b: 0}, 0.25, "0.2"},
		{unary{fn: onnx.FuncMish, a: 0, b: 0}, -6, "-0.014854080479424993692327976146514507970939497593392"},
		{unary{fn: onnx.FuncMish, a: 0, b: 0}, -1.2, "-0.30883579631486252504978375508670541327887736374527"},
		{unary{fn: onnx.FuncMish, a: 0, b: 0}, 0.5, "0.37524521130489510481856241339927988256785623623569"},
		{unary{fn: onnx.FuncMish, a: 0, b: 0}, 3, "2.9865350049679573190570518201061224870691313464808"},
		{unary{fn: onnx.FuncSin, a: 0, b: 0}, -1000.5, "-0.99527395710521354277404244290490432657310406652907"},
		{unary{fn: onnx.FuncSin, a: 0, b: 0}, -3, "-0.14112000805986722210074480280811027984693326425227"},
		{unary{fn: onnx.FuncSin, a: 0, b: 0}, 0.001, "0.00099999983333334168748313955735270633396070171901256"},
		{unary{fn: onnx.FuncSin, a: 0, b: 0}, 1.5, "0.99749498660405443094172337114148732270665142592212"},
		{unary{fn: onnx.FuncSin, a: 0, b: 0}, 100000.0, "0.035748797972016509316470500695808829009045692578109"},
		{unary{fn: onnx.FuncCos, a: 0, b: 0}, -1000.5, "0.097106901444385264122638870824256988839736271121786"},
		{unary{fn: onnx.FuncCos, a: 0, b: 0}, -3, "-0.98999249660044545727157279473126130239367909661559"},
		{unary{fn: onnx.FuncCos, a: 0, b: 0}, 0, "1.0"},
		{unary{fn: onnx.FuncCos, a: 0, b: 0}, 1.5, "0.070737201667702910088189851434268709085091027563347"},
		{unary{fn: onnx.FuncCos, a: 0, b: 0}, 100000.0, "-0.99936080743821245189113541414480220323538658745973"},
		{unary{fn: onnx.FuncPow, a: 3, b: 0}, -1.5, "-3.375"},
		{unary{fn: onnx.FuncPow, a: 3, b: 0}, 2, "8.0"},
		{unary{fn: onnx.FuncPow, a: -2, b: 0}, -1.5, "0.44444444444444444444444444444444444444444444444444"},
		{unary{fn: onnx.FuncPow, a: -2, b: 0}, 3, "0.11111111111111111111111111111111111111111111111111"},
		{unary{fn: onnx.FuncPow, a: 1.5, b: 0}, 0.25, "0.125"},
		{unary{fn: onnx.FuncPow, a: 1.5, b: 0}, 3, "5.1961524227066318805823390245176171008284157614311"},
		{unary{fn: onnx.FuncHardSwish, a: 0, b: 0}, -4, "0.0"},
		{unary{fn: onnx.FuncHardSwish, a: 0, b: 0}, -1, "-0.33333333333333333333333333333333333333333333333333"},
		{unary{fn: onnx.FuncHardSwish, a: 0, b: 0}, 1, "0.66666666666666666666666666666666666666666666666667"},
		{unary{fn: onnx.FuncHardSwish, a: 0, b: 0}, 5, "5.0"},
		{unary{fn: onnx.FuncHardSigmoid, a: 0.2, b: 0.5}, -4, "0"},
		{unary{fn: onnx.FuncHardSigmoid, a: 0.2, b: 0.5}, -1, "0.2999999999999999888977697537484345957636833190918"},
		{unary{fn: onnx.FuncHardSigmoid, a: 0.2, b: 0.5}, 1, "0.7000000000000000111022302462515654042363166809082"},
		{unary{fn: onnx.FuncHardSigmoid, a: 0.2, b: 0.5}, 5, "1"},
	} {
		want, _, err := big.ParseFloat(c.want, 10, precision, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		got := c.u.apply(number(c.x))
		diff := new(big.Float).Sub(got, want)
		if diff.Sign() != 0 && diff.MantExp(nil)-max(want.MantExp(nil), 0) > -125 {
			t.Errorf("%s(%g) = %s, expected %s", c.u, c.x, got.Text('g', 45), c.want)
		}
		w, _ := want.Float64()
		if fast := c.u.fast(c.x); math.Abs(fast-w) > 1e-13*max(math.Abs(w), 1) {
			t.Errorf("%s(%g) is %g in float64, expected %g", c.u, c.x, fast, w)
		}
	}
}

// TestEdges checks functions where the real ones have no value, far outside, and at jumps.
func TestEdges(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		u       unary
		x, want float64
	}{
		{unary{fn: onnx.FuncSigmoid}, 1e9, 1}, {unary{fn: onnx.FuncTanh}, -1e9, -1}, {unary{fn: onnx.FuncErf}, 40, 1}, {unary{fn: onnx.FuncErf}, -40, -1},
		{unary{fn: onnx.FuncExp}, 1000, inf}, {unary{fn: onnx.FuncExp}, -1000, 0}, {unary{fn: onnx.FuncLog}, 0, -inf}, {unary{fn: onnx.FuncLog}, -1, -inf},
		{unary{fn: onnx.FuncSqrt}, -4, 0}, {unary{fn: onnx.FuncRsqrt}, 0, inf}, {unary{fn: onnx.FuncRsqrt}, -1, inf}, {unary{fn: onnx.FuncReciprocal}, 0, inf},
		{unary{fn: onnx.FuncPow, a: 0.5}, -1, 0}, {unary{fn: onnx.FuncPow, a: -1}, 0, inf}, {unary{fn: onnx.FuncPow, a: 0}, 0, 1}, {unary{fn: onnx.FuncPow, a: 2}, -3, 9},
		{unary{fn: onnx.FuncFloor}, -1.5, -2}, {unary{fn: onnx.FuncFloor}, -2, -2}, {unary{fn: onnx.FuncCeil}, -1.5, -1}, {unary{fn: onnx.FuncCeil}, 1.25, 2},
		{unary{fn: onnx.FuncRound}, 0.5, 0}, {unary{fn: onnx.FuncRound}, 1.5, 2}, {unary{fn: onnx.FuncRound}, -0.5, 0}, {unary{fn: onnx.FuncRound}, -2.5, -2},
		{unary{fn: onnx.FuncRound}, 2.75, 3}, {unary{fn: onnx.FuncSign}, 0, 0}, {unary{fn: onnx.FuncPositive}, 0, 0}, {unary{fn: onnx.FuncPositive}, 1e-30, 1},
		{unary{fn: onnx.FuncPositive}, -2, 0}, {unary{fn: onnx.FuncZero}, 0, 1}, {unary{fn: onnx.FuncZero}, -1e-30, 0}, {unary{fn: onnx.FuncSign}, -3, -1}, {unary{fn: onnx.FuncAbs}, -3, 3},
		{unary{fn: onnx.FuncNeg}, 3, -3}, {unary{fn: onnx.FuncRelu}, -3, 0}, {unary{fn: onnx.FuncLeakyRelu, a: 0.5}, -3, -1.5},
		{unary{fn: onnx.FuncClip, a: -inf, b: 2}, 5, 2}, {unary{fn: onnx.FuncClip, a: -1, b: inf}, -5, -1}, {unary{affine: true, a: 2, b: 1}, 3, 7},
	} {
		got, _ := c.u.apply(number(c.x)).Float64()
		if got != c.want || c.u.fast(c.x) != c.want {
			t.Errorf("%s(%g) = %g, in float64 %g, expected %g", c.u, c.x, got, c.u.fast(c.x), c.want)
		}
	}
}

// TestTableValues compares whole tables, most of whose entries float64 decides, with a decision of every entry in exact arithmetic.
func TestTableValues(t *testing.T) {
	for _, chain := range [][]unary{
		{{fn: onnx.FuncClip, a: -1.25, b: 0.7}},
		{{fn: onnx.FuncClip, a: math.Inf(-1), b: 0.7}, {fn: onnx.FuncRelu}},
		{{fn: onnx.FuncSigmoid}}, {{fn: onnx.FuncTanh}, {affine: true, a: -3}}, {{fn: onnx.FuncGelu}}, {{fn: onnx.FuncSilu, a: 1}},
		{{fn: onnx.FuncExp}}, {{fn: onnx.FuncReciprocal}}, {{fn: onnx.FuncLog}}, {{fn: onnx.FuncLog}, {fn: onnx.FuncTanh}, {affine: true, a: 3}}, {{fn: onnx.FuncRsqrt}, {fn: onnx.FuncCos}},
		{{fn: onnx.FuncReciprocal}, {fn: onnx.FuncSoftplus}, {fn: onnx.FuncMish}, {fn: onnx.FuncSin}}, {{fn: onnx.FuncLog}, {fn: onnx.FuncSoftsign}},
		{{fn: onnx.FuncLog}, {fn: onnx.FuncHardSwish}, {fn: onnx.FuncElu, a: 1}, {fn: onnx.FuncGeluTanh}, {fn: onnx.FuncRound}},
		{{fn: onnx.FuncRound}}, {{fn: onnx.FuncPow, a: 2}}, {{affine: true, a: 0.5, b: 0.25}},
	} {
		m := mapping{chain: chain, in: 0.0071, out: 0.0113, lo: -90, hi: 99}
		const bits = 9
		exact := 0
		for i, got := range m.values(bits) {
			q := int64(i - 1<<(bits-1))
			if want := m.code(q); int64(got) != want {
				t.Fatalf("%v: row %d is %d, expected %d", chain, i, got, want)
			}
			if _, ok := m.quick(q); !ok {
				exact++
			}
		}
		if exact > 1<<bits/8 && chain[0].fn != onnx.FuncLog && chain[0].fn != onnx.FuncRsqrt { // infinite below zero
			t.Errorf("%v: %d rows of %d are not decided in float64", chain, exact, 1<<bits)
		}
	}
}

// TestTies rounds halves upwards, also where every other entry is one.
func TestTies(t *testing.T) {
	m := mapping{in: 0.125, out: 0.25, lo: -100, hi: 100}
	for i, got := range m.values(6) {
		if want := math.Floor(float64(i-32)/2 + 0.5); float64(got) != want {
			t.Fatalf("row %d is %d, expected %g", i, got, want)
		}
	}
}

// TestClampIsExact checks that equal scales cancel to the last code, whatever the scale.
func TestClampIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		scale := math.Ldexp(rng.Float64()+0.1, rng.IntN(60)-30)
		m := mapping{in: scale, out: scale, lo: -127, hi: 127}
		if _, _, plain := m.plain(); !plain {
			t.Fatal("equal scales are no clamp")
		}
		for _, q := range []int64{-131072, -128, -127, -1, 0, 1, 2, 126, 127, 128, 131071} {
			if got, want := m.code(q), min(max(q, -127), 127); got != want {
				t.Fatalf("scale %g: code of %d is %d, expected %d", scale, q, got, want)
			}
		}
	}
}
