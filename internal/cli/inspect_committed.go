package cli

import (
	"strings"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/zkml"
)

// commitmentRoot is the root of a commitment as its file has it.
func commitmentRoot(root merkle.Digest) string { return hexText(m31.AppendBytes(nil, root[:])) }

// viewCommitment shows a commitment to an input or output; vk may be nil.
func viewCommitment(path string, data []byte, vk *zkml.VerifyingKey) (*view, error) {
	c, err := zkml.DecodeCommitment(data)
	if err != nil {
		return nil, inputError("%s: %w", path, err)
	}
	v := &view{Kind: "commitment to an input or output"}
	v.fact("root", commitmentRoot(c.Root))
	v.addFormat(c.Format, vk)
	return v, nil
}

// viewOpening shows of an opening what is no secret. vk, of the key that it is for, may be nil.
func viewOpening(path string, data []byte, vk *zkml.VerifyingKey) (*view, error) {
	o, err := zkml.DecodeOpening(data)
	if err != nil {
		return nil, inputError("%s: %w", path, err)
	}
	v := &view{Kind: "opening of a commitment"}
	v.fact("values", len(o.Values))
	v.fact("secret", "the values and the salt, which are not shown")
	v.addFormat(o.Format, vk)
	return v, nil
}

// addFormat says which of a key's inputs and outputs have a format.
func (v *view) addFormat(format [32]byte, vk *zkml.VerifyingKey) {
	v.fact("format", hexText(format[:]))
	if vk == nil {
		v.fact("of", "cannot be told without the key; pass --key FILE.vk")
		return
	}
	var of []string
	for _, t := range vk.Committed() {
		if t.Format == format {
			of = append(of, tensorText(&t))
		}
	}
	if len(of) == 0 {
		of = []string{"nothing that this key has committed"}
	}
	v.fact("of", strings.Join(of, " or "))
}
