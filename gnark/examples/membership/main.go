// Command membership proves that a leaf is in a Merkle tree of MiMC hashes over BN254,
// and says neither which nor where. It is there twice, in membership/gnark with gnark's
// own prover, and the import is all that differs.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/hash"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/std/hash/mimc"
	"github.com/consensys/gnark/std/math/bits"

	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// Circuit says that Leaf is at Index of the tree with the given root, and Path are the siblings
// from the leaf's on.
type Circuit struct {
	Leaf, Index frontend.Variable
	Path        []frontend.Variable
	Root        frontend.Variable `gnark:",public"`
}

// Define implements frontend.Circuit.
func (c *Circuit) Define(api frontend.API) error {
	h, err := mimc.NewMiMC(api)
	if err != nil {
		return err
	}
	node := c.Leaf
	for i, right := range bits.ToBinary(api, c.Index, bits.WithNbDigits(len(c.Path))) {
		h.Reset()
		h.Write(api.Select(right, c.Path[i], node), api.Select(right, node, c.Path[i]))
		node = h.Sum()
	}
	api.AssertIsEqual(c.Root, node)
	return nil
}

func parent(left, right *big.Int) *big.Int {
	h := hash.MIMC_BN254.New()
	h.Write(left.FillBytes(make([]byte, 32)))
	h.Write(right.FillBytes(make([]byte, 32)))
	return new(big.Int).SetBytes(h.Sum(nil))
}

// assignment is the path of a leaf in the tree of the leaves 0, 1, ..., 2^depth - 1.
func assignment(index, depth int) *Circuit {
	level := make([]*big.Int, 1<<depth)
	for i := range level {
		level[i] = big.NewInt(int64(i))
	}
	c := &Circuit{Leaf: index, Index: index}
	for at := index; len(level) > 1; at /= 2 {
		c.Path = append(c.Path, level[at^1])
		above := make([]*big.Int, len(level)/2)
		for i := range above {
			above[i] = parent(level[2*i], level[2*i+1])
		}
		level = above
	}
	c.Root = level[0]
	return c
}

func main() {
	depth := flag.Int("depth", 8, "of the tree, 1 to 16; its leaves are 0, 1, 2, ...")
	index := flag.Int("index", 5, "of the leaf")
	flag.Parse()
	if err := run(*index, *depth); err != nil {
		log.Fatal(err)
	}
}

func run(index, depth int) error {
	if depth < 1 || depth > 16 || index < 0 || index >= 1<<depth {
		return fmt.Errorf("leaf %d of a tree of depth %d", index, depth)
	}
	field := ecc.BN254.ScalarField()
	ccs, err := frontend.Compile(field, r1cs.NewBuilder, &Circuit{Path: make([]frontend.Variable, depth)})
	if err != nil {
		return err
	}
	pk, vk, err := groth16.Setup(ccs)
	if err != nil {
		return err
	}
	c := assignment(index, depth)
	witness, err := frontend.NewWitness(c, field)
	if err != nil {
		return err
	}
	proof, err := groth16.Prove(ccs, pk, witness)
	if err != nil {
		return err
	}
	public, err := witness.Public()
	if err != nil {
		return err
	}
	if err := groth16.Verify(proof, vk, public); err != nil {
		return err
	}
	fmt.Printf("proved in %d constraints that a leaf is in the tree with root %v\n", ccs.GetNbConstraints(), c.Root)
	return nil
}
