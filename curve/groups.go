package curve

import (
	"math/big"

	"github.com/zkwarp/zkwarp/field/mont"
)

// Prime fields: of coordinates (fp) and of scalars (fr).
var (
	BN254Fp    = mont.New("bn254_fp", "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47")
	BN254Fr    = mont.New("bn254_fr", "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001")
	BLS12377Fp = mont.New("bls12377_fp", "1ae3a4617c510eac63b05c06ca1493b1a22d9f300f5138f1ef3622fba094800170b5d44300000008508c00000000001")
	BLS12377Fr = mont.New("bls12377_fr", "12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001")
	BLS12381Fp = mont.New("bls12381_fp", "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab")
	BLS12381Fr = mont.New("bls12381_fr", "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001")
	BW6761Fp   = mont.New("bw6761_fp", "122e824fb83ce0ad187c94004faff3eb926186a81d14688528275ef8087be41707ba638e584e91903cebaff25b423048689c8ed12f9fd9071dcd3dc73ebff2e98a116c25667a8f8160cf8aeeaf0a437e6913e6870000082f49d00000000008b")
	BW6761Fr   = BLS12377Fp
	MNT4753Fp  = mont.New("mnt4753_fp", "1c4c62d92c41110229022eee2cdadb7f997505b8fafed5eb7e8f96c97d87307fdb925e8a0ed8d99d124d9a15af79db117e776f218059db80f0da5cb537e38685acce9767254a4638810719ac425f0e39d54522cdd119f5e9063de245e8001")
	MNT4753Fr  = mont.New("mnt4753_fr", "1c4c62d92c41110229022eee2cdadb7f997505b8fafed5eb7e8f96c97d87307fdb925e8a0ed8d99d124d9a15af79db26c5c28c859a99b3eebca9429212636b9dff97634993aa4d6c381bc3f0057974ea099170fa13a4fd90776e240000001")

	// A curve of prime order over a field of 61 bits, for tests of everything but wide
	// arithmetic.
	Toy61Fp = mont.New("toy61_fp", "11abbb6eae18f6ad")
	Toy61Fr = mont.New("toy61_fr", "11abbb6e32baebdd")
)

func ints(digits ...string) []*big.Int {
	out := make([]*big.Int, len(digits))
	for i, d := range digits {
		v, ok := new(big.Int).SetString(d, 16)
		if !ok {
			panic("curve: bad digits " + d)
		}
		out[i] = v
	}
	return out
}

// Groups, with the generators of gnark-crypto.
var (
	BN254G1 = Group{
		Name: "bn254_g1", Curve: "bn254", Base: BN254Fp, Degree: 1,
		A: ints("0"), B: ints("3"),
		Scalar: BN254Fr, Generator: ints("1", "2"),
	}.Finish()
	BN254G2 = Group{
		Name: "bn254_g2", Curve: "bn254", Base: BN254Fp, Degree: 2, Minus: 1,
		A: ints("0", "0"), B: ints("2b149d40ceb8aaae81be18991be06ac3b5b4c5e559dbefa33267e6dc24a138e5", "9713b03af0fed4cd2cafadeed8fdf4a74fa084e52d1852e4a2bd0685c315d2"),
		Scalar: BN254Fr, Generator: ints("1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed", "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2", "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa", "90689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b"),
	}.Finish()
	BLS12377G1 = Group{
		Name: "bls12377_g1", Curve: "bls12-377", Base: BLS12377Fp, Degree: 1,
		A: ints("0"), B: ints("1"),
		Scalar: BLS12377Fr, Generator: ints("8848defe740a67c8fc6225bf87ff5485951e2caa9d41bb188282c8bd37cb5cd5481512ffcd394eeab9b16eb21be9ef", "1914a69c5102eff1f674f5d30afeec4bd7fb348ca3e52d96d182ad44fb82305c2fe3d3634a9591afd82de55559c8ea6"),
	}.Finish()
	// BLS12377Edwards is BLS12377G1 in another form; it is not one of Groups.
	BLS12377Edwards = Group{
		Name: "bls12377_ed", Curve: "bls12-377", Base: BLS12377Fp, Degree: 1,
		A: ints("0"), B: ints("1"),
		Scalar: BLS12377Fr, Generator: ints("8848defe740a67c8fc6225bf87ff5485951e2caa9d41bb188282c8bd37cb5cd5481512ffcd394eeab9b16eb21be9ef", "1914a69c5102eff1f674f5d30afeec4bd7fb348ca3e52d96d182ad44fb82305c2fe3d3634a9591afd82de55559c8ea6"),
		Edwards: &EdwardsForm{
			Root3: ints("32d756062d349e59416ece15ccbf8e86ef0d33183465a42fe2cb65fc1664272e6bb28f0e1c7a7c9c05824ad09adc01")[0],
			C:     ints("272fd56ac5c6690cec22e65036018380d743e1f6c15c7cab82b31405cf8a307af39509df5027b6450ae9206343e6e4")[0],
			D:     ints("cb5d5818b4d2796505bb385732fe3a1bbc34cc60d19690bf8b2d97f059909cb9aeca3c3871e9f27016092b426b700b")[0],
		},
	}.Finish()
	BLS12377G2 = Group{
		Name: "bls12377_g2", Curve: "bls12-377", Base: BLS12377Fp, Degree: 2, Minus: 5,
		A: ints("0", "0"), B: ints("0", "10222f6db0fd6f343bd03737460c589dc7b4f91cd5fd889129207b63c6bf8000dd39e5c1ccccccd1c9ed9999999999a"),
		Scalar: BLS12377Fr, Generator: ints("18480be71c785fec89630a2a3841d01c565f071203e50317ea501f557db6b9b71889f52bb53540274e3e48f7c005196", "ea6040e700403170dc5a51b1b140d5532777ee6651cecbe7223ece0799c9de5cf89984bff76fe6b26bfefa6ea16afe", "690d665d446f7bd960736bcbb2efb4de03ed7274b49a58e458c282f832d204f2cf88886d8c7c2ef094094409fd4ddf", "f8169fd28355189e549da3151a70aa61ef11ac3d591bf12463b01acee304c24279b83f5e52270bd9a1cdd185eb8f93"),
	}.Finish()
	BLS12381G1 = Group{
		Name: "bls12381_g1", Curve: "bls12-381", Base: BLS12381Fp, Degree: 1,
		A: ints("0"), B: ints("4"),
		Scalar: BLS12381Fr, Generator: ints("17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb", "8b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1"),
	}.Finish()
	BLS12381G2 = Group{
		Name: "bls12381_g2", Curve: "bls12-381", Base: BLS12381Fp, Degree: 2, Minus: 1,
		A: ints("0", "0"), B: ints("4", "4"),
		Scalar: BLS12381Fr, Generator: ints("24aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8", "13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e", "ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801", "606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be"),
	}.Finish()
	BW6761G1 = Group{
		Name: "bw6761_g1", Curve: "bw6-761", Base: BW6761Fp, Degree: 1,
		A: ints("0"), B: ints("122e824fb83ce0ad187c94004faff3eb926186a81d14688528275ef8087be41707ba638e584e91903cebaff25b423048689c8ed12f9fd9071dcd3dc73ebff2e98a116c25667a8f8160cf8aeeaf0a437e6913e6870000082f49d00000000008a"),
		Scalar: BW6761Fr, Generator: ints("1075b020ea190c8b277ce98a477beaee6a0cfb7551b27f0ee05c54b85f56fc779017ffac15520ac11dbfcd294c2e746a17a54ce47729b905bd71fa0c9ea097103758f9a280ca27f6750dd0356133e82055928aca6af603f4088f3af66e5b43d", "58b84e0a6fc574e6fd637b45cc2a420f952589884c9ec61a7348d2a2e573a3265909f1af7e0dbac5b8fa1771b5b806cc685d31717a4c55be3fb90b6fc2cdd49f9df141b3053253b2b08119cad0fb93ad1cb2be0b20d2a1bafc8f2db4e95363"),
	}.Finish()
	BW6761G2 = Group{
		Name: "bw6761_g2", Curve: "bw6-761", Base: BW6761Fp, Degree: 1,
		A: ints("0"), B: ints("4"),
		Scalar: BW6761Fr, Generator: ints("110133241d9b816c852a82e69d660f9d61053aac5a7115f4c06201013890f6d26b41c5dab3da268734ec3f1f09feb58c5bbcae9ac70e7c7963317a300e1b6bace6948cb3cd208d700e96efbc2ad54b06410cf4fe1bf995ba830c194cd025f1c", "17c3357761369f8179eb10e4b6d2dc26b7cf9acec2181c81a78e2753ffe3160a1d86c80b95a59c94c97eb733293fef64f293dbd2c712b88906c170ffa823003ea96fcd504affc758aa2d3a3c5a02a591ec0594f9eac689eb70a16728c73b61"),
	}.Finish()
	MNT4753G1 = Group{
		Name: "mnt4753_g1", Curve: "mnt4-753", Base: MNT4753Fp, Degree: 1,
		A: ints("2"), B: ints("1373684a8c9dcae7a016ac5d7748d3313cd8e39051c596560835df0c9e50a5b59b882a92c78dc537e51a16703ec9855c77fc3d8bb21c8d68bb8cfb9db4b8c8fba773111c36c8b1b4e8f1ece940ef9eaad265458e06372009c9a0491678ef4"),
		Scalar: MNT4753Fr, Generator: ints("542f1dad450bb76a02d86daaffbaeb69995eb9efa5546444d40c82d6a271f1a438626d1ef781d1de4ffb1f806b314c5ad3463d98a4ea009d57aad9716f708885feff338dd73a5a7eeecfbce7cf95d3c2ab23be1c24740af0fdeb3b7f1981", "4ab6473526e257b175ae94deb9e10aba4ba72f7fddcdea19cb10b2bf61f37ae2c456ee5599dd7c3dfa4100284833115aec5dea57ef53ee29157bdf1b741aebd423036db8fb990a342449caeb92fa6b031ea99cff05e05ec3be2e4a050358"),
	}.Finish()
	Toy61 = Group{
		Name: "toy61", Curve: "toy61", Base: Toy61Fp, Degree: 1,
		A: ints("0"), B: ints("2"),
		Scalar: Toy61Fr, Generator: ints("1", "4067e7de364a87"),
	}.Finish()
)

// Groups is every group that kernels are made for; Toy61 is not one of them.
var Groups = []*Group{BN254G1, BN254G2, BLS12377G1, BLS12377G2, BLS12381G1, BLS12381G2, BW6761G1, BW6761G2, MNT4753G1}
