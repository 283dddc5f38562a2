// Command preimage proves that one knows what a MiMC hash over BN254 is of. But for one
// import it is a program of gnark's.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"path/filepath"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/hash"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/std/hash/mimc"

	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// Circuit says that Hash is the hash of Secret.
type Circuit struct {
	Secret frontend.Variable
	Hash   frontend.Variable `gnark:",public"`
}

// Define implements frontend.Circuit.
func (c *Circuit) Define(api frontend.API) error {
	h, err := mimc.NewMiMC(api)
	if err != nil {
		return err
	}
	h.Write(c.Secret)
	api.AssertIsEqual(c.Hash, h.Sum())
	return nil
}

func main() {
	secret := flag.Int64("secret", 42, "the preimage")
	out := flag.String("o", "", "`folder`, which must be there, for circuit, keys, witnesses and proof as zkwarp-gnark reads them, and for a verifying contract; none are written without it")
	flag.Parse()
	if err := run(big.NewInt(*secret), *out); err != nil {
		log.Fatal(err)
	}
}

func run(secret *big.Int, out string) error {
	field := ecc.BN254.ScalarField()
	ccs, err := frontend.Compile(field, r1cs.NewBuilder, &Circuit{})
	if err != nil {
		return err
	}
	pk, vk, err := groth16.Setup(ccs)
	if err != nil {
		return err
	}
	h := hash.MIMC_BN254.New()
	h.Write(new(big.Int).Mod(secret, field).FillBytes(make([]byte, 32)))
	digest := new(big.Int).SetBytes(h.Sum(nil))
	witness, err := frontend.NewWitness(&Circuit{Secret: secret, Hash: digest}, field)
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
	fmt.Printf("proved in %d constraints that somebody knows the preimage of %v\n", ccs.GetNbConstraints(), digest)
	if out == "" {
		return nil
	}
	files := map[string]io.WriterTo{"r1cs": ccs, "pk": pk, "vk": vk, "witness": witness, "public": public, "proof": proof}
	for name, v := range files {
		if err := write(filepath.Join(out, "preimage."+name), func(f *os.File) error { _, err := v.WriteTo(f); return err }); err != nil {
			return err
		}
	}
	return write(filepath.Join(out, "preimage.sol"), func(f *os.File) error { return vk.ExportSolidity(f) })
}

func write(path string, to func(*os.File) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := to(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
