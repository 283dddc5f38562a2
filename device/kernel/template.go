package kernel

import (
	"path"
	"strings"
)

// Template is the text of a .cu or .cuh file that makes a unit for each of
// several fields or hashes. Names in it that contain the word VARIANT, those of
// kernels above all, are different in each unit.
type Template struct {
	Name string // path of the file within the repository
	Text string
}

// Unit is the template's unit for one variant, a short word such as babybear4:
// VARIANT is replaced by it, and so is each further pair of an old and a new text,
// such as the path of a header to include. Earlier pairs go first.
func (t Template) Unit(variant string, pairs []string, headers ...*Source) *Source {
	values := append(append([]string(nil), pairs...), "VARIANT", variant)
	ext := path.Ext(t.Name)
	return &Source{
		Name:    strings.TrimSuffix(t.Name, ext) + "." + variant + ext,
		Text:    strings.NewReplacer(values...).Replace(t.Text),
		Headers: headers,
		file:    t.Name,
		values:  values,
	}
}

// File is the path of the file that the source's text is from: its name, but for
// units of templates.
func (s *Source) File() string {
	if s.file != "" {
		return s.file
	}
	return s.Name
}

// FromFile says whether the source's text is what a file with that text gives.
func (s *Source) FromFile(text string) bool {
	return s.Text == strings.NewReplacer(s.values...).Replace(text)
}
