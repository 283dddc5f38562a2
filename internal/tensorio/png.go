package tensorio

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"slices"
)

// maxPixels bounds pictures, however well they are packed.
const maxPixels = 1 << 26

const pngMagic = "\x89PNG\r\n\x1a\n"

// readPNG decodes a picture for a model whose shape ends in [channels,]
// height, width, with 1 or 3 channels; everything before must have length 1, but
// for a first axis of a batch, for which so many images make one input.
// 255 becomes 1. A sheet of several images is cut up, row by row. For a model
// that takes a flat list, or a batch of them, the picture must have just as many pixels.
// More than most images are refused before the picture is unpacked.
func readPNG(file []byte, shape []int, most int) ([][]float64, error) {
	config, err := png.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("png: %w", err)
	}
	batch := 1
	if one, n, ok := batchOf(shape, config); ok {
		shape, batch = one, n
	}
	channels, height, width, err := imageAxes(shape, config.Height, config.Width)
	if err != nil {
		return nil, err
	}
	if config.Width%width != 0 || config.Height%height != 0 {
		return nil, fmt.Errorf("png: %d x %d pixels, the model takes %d x %d", config.Width, config.Height, width, height)
	}
	// Deflate packs at most about 1032 to 1: a picture of more pixels than
	// that cannot be in the file, and is not given memory.
	if int64(config.Width)*int64(config.Height) > int64(len(file))*1032*8 {
		return nil, fmt.Errorf("png: %d x %d pixels in a file of %d bytes", config.Width, config.Height, len(file))
	}
	columns, rows := config.Width/width, config.Height/height
	if pixels := int64(config.Width) * int64(config.Height); pixels > maxPixels {
		return nil, fmt.Errorf("png: %d pixels, at most %d", pixels, maxPixels)
	}
	if n := columns * rows; n%batch != 0 {
		return nil, fmt.Errorf("png: %d x %d pixels are %d images of %d x %d, the model takes batches of %d", config.Width, config.Height, n, width, height, batch)
	} else if n /= batch; n > most {
		return nil, fmt.Errorf("png: holds %d inputs, want at most %d", n, most)
	}
	picture, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("png: %w", err)
	}
	out := make([][]float64, 0, columns*rows)
	for y := range rows {
		for x := range columns {
			out = append(out, planes(picture, x*width, y*height, width, height, channels))
		}
	}
	return batches(out, batch), nil
}

// InBatch reports whether a model of that shape takes a batch of pictures of the file's size: n x channels x height x width, or n lists of as many
// numbers as the picture has.
func InBatch(file []byte, shape []int) bool {
	config, err := png.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return false
	}
	_, _, ok := batchOf(shape, config)
	return ok
}

// batchOf splits a shape of several images into that of one and their number. ok is false for other shapes. Two axes are height and width,
// unless the picture has the pixels of a row of them, which no picture of that height and width has.
func batchOf(shape []int, picture image.Config) (one []int, n int, ok bool) {
	if len(shape) < 2 || shape[0] < 2 {
		return nil, 0, false
	}
	switch len(shape) {
	case 4:
		_, _, _, ok = ImageAxes(shape[1:])
	case 2:
		pixels := int64(picture.Width) * int64(picture.Height)
		ok = int64(shape[1]) == pixels || int64(shape[1]) == 3*pixels
	}
	return shape[1:], shape[0], ok
}

// batches joins n images each to one input.
func batches(images [][]float64, n int) [][]float64 {
	if n == 1 {
		return images
	}
	var out [][]float64
	for group := range slices.Chunk(images, n) {
		out = append(out, slices.Concat(group...))
	}
	return out
}

// ReadPictures reads files of pictures in a row as inputs of a batch, n of their images each. Errors name the file, by its place in names. A file with
// which there are more than most inputs is refused before it is unpacked.
func ReadPictures(names []string, files [][]byte, shape []int, most int) ([][]float64, error) {
	var images [][]float64
	n := 1
	for i, file := range files {
		config, err := png.DecodeConfig(bytes.NewReader(file))
		if err != nil {
			return nil, fmt.Errorf("%s: png: %w", names[i], err)
		}
		one, several, ok := batchOf(shape, config)
		if !ok {
			return nil, fmt.Errorf("%s: png: %d x %d pixels, the model takes %s, no batch of such pictures", names[i], config.Width, config.Height, ShapeText(shape))
		}
		n = several
		room := math.MaxInt
		if most < math.MaxInt/n {
			room = most*n - len(images)
		}
		part, err := readPNG(file, one, room)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", names[i], err)
		}
		images = append(images, part...)
	}
	if len(images)%n != 0 {
		return nil, fmt.Errorf("%d images in %d files, the model takes batches of %d", len(images), len(files), n)
	}
	return batches(images, n), nil
}

// imageAxes splits a shape into channels, height and width. Those of a flat
// shape are the picture's own, if the numbers of values agree.
func imageAxes(shape []int, pictureHeight, pictureWidth int) (channels, height, width int, err error) {
	if flat := squeeze(shape); len(flat) == 1 {
		switch int64(flat[0]) {
		case int64(pictureHeight) * int64(pictureWidth):
			return 1, pictureHeight, pictureWidth, nil
		case 3 * int64(pictureHeight) * int64(pictureWidth):
			return 3, pictureHeight, pictureWidth, nil
		}
		return 0, 0, 0, fmt.Errorf("png: %d x %d pixels, the model takes %d values", pictureWidth, pictureHeight, flat[0])
	}
	if len(shape) < 2 {
		return 0, 0, 0, fmt.Errorf("png: the model takes %s, not an image", ShapeText(shape))
	}
	channels, height, width, ok := ImageAxes(shape)
	if !ok {
		return 0, 0, 0, fmt.Errorf("png: the model takes %s, not one image", ShapeText(shape))
	}
	return channels, height, width, nil
}

// ImageAxes is the size of the picture that a shape stands for: [channels,] height,
// width, with 1 or 3 channels, and everything before of length 1. ok is false for other
// shapes; a flat list is no picture of its own, but takes those with that many pixels.
func ImageAxes(shape []int) (channels, height, width int, ok bool) {
	n := len(shape)
	if n < 2 || len(squeeze(shape)) == 1 {
		return 0, 0, 0, false
	}
	channels, height, width = 1, shape[n-2], shape[n-1]
	rest := shape[:n-2]
	if len(rest) > 0 {
		channels = rest[len(rest)-1]
		rest = rest[:len(rest)-1]
	}
	return channels, height, width, Elements(rest) == 1 && (channels == 1 || channels == 3)
}

// planes copies one image out of a picture, channel by channel.
func planes(picture image.Image, left, top, width, height, channels int) []float64 {
	origin := picture.Bounds().Min
	out := make([]float64, channels*width*height)
	for y := range height {
		for x := range width {
			r, g, b, _ := picture.At(origin.X+left+x, origin.Y+top+y).RGBA()
			at := y*width + x
			if channels == 3 {
				for c, v := range [3]uint32{r, g, b} {
					out[c*width*height+at] = float64(v) / 0xffff
				}
				continue
			}
			// ITU-R BT.601 luma, exact for gray.
			out[at] = (299*float64(r) + 587*float64(g) + 114*float64(b)) / (1000 * 0xffff)
		}
	}
	return out
}
