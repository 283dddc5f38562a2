package zkmlfile

import (
	"strconv"
	"strings"

	"github.com/zkwarp/zkwarp/zkml"
)

// CommittedNames are parts of file names, one for each committed tensor: its name as far as it serves. Files of it are NAME.commitment and
// NAME.opening, with what they belong to in front: x.NAME.opening.
func CommittedNames(list []zkml.CommittedTensor) []string {
	const most = 64
	taken := map[string]bool{}
	out := make([]string, len(list))
	for i := range list {
		name := strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
				return r
			}
			return '_'
		}, list[i].Name)
		name = name[:min(len(name), most)]
		if name == "" {
			name = "_"
		}
		// Some file systems take upper and lower case for the same.
		unique := name
		for n := 2; taken[strings.ToLower(unique)]; n++ {
			unique = name + "-" + strconv.Itoa(n)
		}
		taken[strings.ToLower(unique)] = true
		out[i] = unique
	}
	return out
}
