package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

// answerText is the answer for people.
func answerText(f *zkmlfile.Answer) string {
	switch {
	case f.Label != "":
		return f.Label
	case f.Answer != nil:
		return fmt.Sprint(*f.Answer)
	}
	if len(f.Answers) > 0 {
		return fewText(f.Answers, "%d")
	}
	if len(f.Outputs) == 0 {
		return fewText(f.Values, "%.4g")
	}
	var parts []string
	for i := range f.Outputs {
		parts = append(parts, oneLine(f.Outputs[i].Name)+": "+fewText(f.Outputs[i].Values, "%.4g"))
	}
	return strings.Join(parts, "; ")
}

// fewText writes the first numbers of a list.
func fewText[T int | float64](list []T, format string) string {
	const most = 8
	var parts []string
	for _, v := range list[:min(len(list), most)] {
		parts = append(parts, fmt.Sprintf(format, v))
	}
	if len(list) > most {
		parts = append(parts, fmt.Sprintf("... (%d values)", len(list)))
	}
	return strings.Join(parts, " ")
}

// decodeAnswer reads an output file. One whose readable part does not follow from the
// integers is rejected.
func decodeAnswer(data []byte, p *graph.Program) ([]int32, error) {
	y, err := zkmlfile.DecodeAnswer(data, p)
	switch {
	case errors.Is(err, zkmlfile.ErrDerived):
		return nil, rejected("%w", err)
	case err != nil:
		return nil, inputError("%w", err)
	}
	return y, nil
}
