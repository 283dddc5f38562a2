package cli

import (
	"strings"

	"github.com/zkwarp/zkwarp/examples/digits"
)

// draw shows the image in block characters, two pixels to a character.
func (d *demo) draw() {
	for _, line := range blocks(&d.images[d.image]) {
		d.say("         %s", line)
	}
}

// blocks is an image as lines of text, empty rows left out.
func blocks(m *digits.Image) []string {
	const ink = 96
	dark := func(x, y int) bool { return m[y*digits.Side+x] >= ink }
	var lines []string
	for y := 0; y < digits.Side; y += 2 {
		var b strings.Builder
		for x := range digits.Side {
			switch upper, lower := dark(x, y), dark(x, y+1); {
			case upper && lower:
				b.WriteRune('\u2588')
			case upper:
				b.WriteRune('\u2580')
			case lower:
				b.WriteRune('\u2584')
			default:
				b.WriteRune(' ')
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
