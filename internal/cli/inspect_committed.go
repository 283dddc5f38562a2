package cli

import (
	"fmt"
	"strings"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/zkml"
)

// commitmentRoot is the root of a commitment as its file has it.
func commitmentRoot(root merkle.Digest) string { return hexText(m31.AppendBytes(nil, root[:])) }

// viewCommitment shows a commitment to an input or output; of may be nil.
func viewCommitment(path string, data []byte, of subject) (*view, error) {
	c, err := zkml.DecodeCommitment(data)
	if err != nil {
		return nil, inputError("%s: %w", path, err)
	}
	v := &view{Kind: "commitment to an input or output"}
	v.fact("root", commitmentRoot(c.Root))
	v.addFormat(c.Format, of)
	return v, nil
}

// viewOpening shows of an opening what is no secret. of, the key that it is for, may be nil.
func viewOpening(path string, data []byte, of subject) (*view, error) {
	o, err := zkml.DecodeOpening(data)
	if err != nil {
		return nil, inputError("%s: %w", path, err)
	}
	v := &view{Kind: "opening of a commitment"}
	v.fact("values", len(o.Values))
	v.fact("secret", "the values and the salt, which are not shown")
	v.addFormat(o.Format, of)
	return v, nil
}

// addFormat says which of a key's inputs and outputs have a format.
func (v *view) addFormat(format [32]byte, of subject) {
	v.fact("format", hexText(format[:]))
	if of == nil {
		v.fact("of", "cannot be told without the key; pass --key FILE.vk")
		return
	}
	var found []string
	for _, t := range of.Committed() {
		if t.Format == format {
			found = append(found, tensorText(&t))
		}
	}
	if f, ok := of.(*chainFace); ok {
		for k, vk := range f.Keys() {
			for _, t := range vk.Committed() {
				if t.Format == format {
					found = append(found, fmt.Sprintf("%s of part %d", tensorText(&t), k+1))
				}
			}
		}
	}
	if len(found) == 0 {
		found = []string{"nothing that this key has committed"}
	}
	v.fact("of", strings.Join(found, " or "))
}
