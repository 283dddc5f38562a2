// Package archtest holds the module's import rules, and the test that they are
// kept.
//
// A folder is a room: one idea, with all of its packages. A room imports rooms
// of lower rank only, and only those listed here. Its own package is the light
// half, for verifiers; only <room>/prover, and test helpers, may need a device.
package archtest

// Room is a folder at the top of the repository, or one of internal.
type Room struct {
	Rank    int
	Imports []string // rooms
	// Device marks a room that computes and proves nothing: none of it is for
	// verifiers, and all of it may need a device.
	Device bool
	// Computes are packages of a room for verifiers of which that holds.
	Computes []string
}

// Rooms is every room, and every edge between two of them.
var Rooms = map[string]Room{
	// Helpers that know nothing of the rest; every room may import these.
	"internal/buildinfo": {Rank: 0},
	"internal/mapped":    {Rank: 0},
	"internal/parallel":  {Rank: 0},
	"internal/hostile":   {Rank: 0},
	"internal/mutant":    {Rank: 0},
	"internal/tensorio":  {Rank: 0},
	"internal/vecasm":    {Rank: 0},

	"device":       {Rank: 1, Imports: []string{"internal/ptx"}},
	"internal/ptx": {Rank: 1, Imports: []string{"device"}}, // precompiled kernels; of device only the kernel package

	"field":      {Rank: 2, Imports: []string{"device"}},
	"hash":       {Rank: 3, Imports: []string{"device", "field"}},
	"transcript": {Rank: 4, Imports: []string{"device", "field", "hash"}},

	"curve": {Rank: 3, Imports: []string{"device", "field"}},
	"msm":   {Rank: 6, Imports: []string{"curve", "device", "field"}, Device: true},

	"merkle": {Rank: 5, Imports: []string{"device", "field", "hash"}},
	"matrix": {Rank: 5, Imports: []string{"device", "field"}},
	"mle":    {Rank: 5, Imports: []string{"device", "field"}},
	"ntt":    {Rank: 5, Imports: []string{"curve", "device", "field"}, Computes: []string{"ntt/scalar"}},

	"sumcheck": {Rank: 6, Imports: []string{"device", "field", "mle", "transcript"}},

	"matmul": {Rank: 7, Imports: []string{"device", "field", "mle", "sumcheck", "transcript"}},
	"logup":  {Rank: 7, Imports: []string{"device", "field", "sumcheck", "transcript"}},
	"whir":   {Rank: 7, Imports: []string{"device", "field", "hash", "merkle", "mle", "ntt", "transcript"}},

	"bitproof":  {Rank: 8, Imports: []string{"device", "field", "fribinius", "sumcheck", "transcript"}},
	"fribinius": {Rank: 7, Imports: []string{"device", "field", "merkle", "ntt", "transcript"}},

	"zkml": {Rank: 8, Imports: []string{"device", "field", "logup", "matrix", "merkle", "mle", "sumcheck", "transcript", "whir"}},

	"examples": {Rank: 9, Imports: []string{"device", "whir", "zkml"}},
	"bench": {Rank: 10, Imports: []string{"bitproof", "curve", "device", "examples", "field", "fribinius", "hash", "logup", "matmul", "matrix", "merkle", "mle", "msm", "ntt",
		"sumcheck", "transcript", "whir", "zkml"}}, // examples for the digit model

	"internal/kernels": {Rank: 11, Imports: []string{"bench", "bitproof", "curve", "device", "field", "fribinius", "hash", "logup", "matrix", "merkle", "mle", "msm", "ntt",
		"sumcheck", "transcript", "whir", "zkml"}},
	"internal/cli": {Rank: 12, Imports: []string{"bench", "bitproof", "curve", "device", "examples", "field", "internal/kernels", "merkle", "msm", "whir", "zkml"}},

	"cmd":               {Rank: 13, Imports: []string{"internal/cli"}},
	"internal/tools":    {Rank: 12, Imports: []string{"bench", "device", "internal/kernels", "internal/ptx"}},
	"internal/archtest": {Rank: 12},
}

// shared are the rooms that need no edge to be imported.
const shared = 0
