package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Decode reads a results file and validates every row.
func Decode(data []byte) ([]Row, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var rows []Row
	if err := d.Decode(&rows); err != nil {
		return nil, fmt.Errorf("not an array of result rows: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more after the end of the array")
	}
	for i := range rows {
		if err := rows[i].Validate(); err != nil {
			return nil, fmt.Errorf("row %d (%s %s %s): %w", i, rows[i].Suite, rows[i].Case, rows[i].Metric, err)
		}
	}
	return rows, nil
}

// Encode writes rows in their canonical order.
func Encode(rows []Row) ([]byte, error) {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b Row) int { return strings.Compare(a.key(), b.key()) })
	data, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// Join puts new rows over old ones. A run of a case on a device is replaced
// whole by one of another commit whose rows are later: metrics that the newer
// one lacks do not stay. Within a run, of two rows for a metric the one with the
// later date stays.
func Join(old, added []Row) []Row {
	rows := append(slices.Clone(old), added...)
	last := map[string]*Row{} // by case
	for i := range rows {
		r := &rows[i]
		if l := last[r.run()]; l == nil || r.Date >= l.Date {
			last[r.run()] = r
		}
	}
	at := map[string]int{}
	var out []Row
	for _, r := range rows {
		if last[r.run()].Commit != r.Commit {
			continue
		}
		i, ok := at[r.key()]
		switch {
		case !ok:
			at[r.key()] = len(out)
			out = append(out, r)
		case r.Date >= out[i].Date:
			out[i] = r
		}
	}
	return out
}

// Merge joins valid rows into the results files of a folder, one file a card,
// and returns the files it wrote.
func Merge(folder string, rows []Row) ([]string, error) {
	cards := map[string][]Row{}
	for i := range rows {
		if err := rows[i].Validate(); err != nil {
			return nil, fmt.Errorf("row %d (%s %s %s): %w", i, rows[i].Suite, rows[i].Case, rows[i].Metric, err)
		}
		slug := Slug(rows[i].Card)
		cards[slug] = append(cards[slug], rows[i])
	}
	var written []string
	for slug, added := range cards {
		path := filepath.Join(folder, slug+".json")
		var old []Row
		data, err := os.ReadFile(path)
		switch {
		case err == nil:
			if old, err = Decode(data); err != nil {
				return written, fmt.Errorf("%s: %w", path, err)
			}
		case !errors.Is(err, fs.ErrNotExist):
			return written, err
		}
		if data, err = Encode(Join(old, added)); err != nil {
			return written, err
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return written, err
		}
		if err := replace(path, data); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	slices.Sort(written)
	return written, nil
}

// replace writes a file under a temporary name and renames it.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Load reads all results files of a folder.
func Load(folder string) ([]Row, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		file, err := Decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		for i := range file {
			if want := Slug(file[i].Card) + ".json"; want != filepath.Base(p) {
				return nil, fmt.Errorf("%s: row %d: card %q belongs in %s", p, i, file[i].Card, want)
			}
		}
		rows = append(rows, file...)
	}
	return rows, nil
}
