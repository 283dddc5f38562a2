// Package mapped opens files of a folder to read them whole: mapped into memory where the system can, and otherwise read.
package mapped

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder is a folder whose files are opened by names that neither a path nor a symbolic link leads out of.
type Folder struct {
	root  *os.Root
	files map[string]*File
}

// OpenFolder opens a folder.
func OpenFolder(path string) (*Folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, plain(err)
	}
	return &Folder{root, map[string]*File{}}, nil
}

// Open returns a file, which stays open until the folder is closed. Names use slashes.
func (d *Folder) Open(name string) (*File, error) {
	if f := d.files[name]; f != nil {
		return f, nil
	}
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return nil, errors.New("it is outside the folder")
	}
	info, err := d.root.Stat(local)
	if err != nil {
		return nil, plain(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := d.root.Open(local)
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	m, err := Map(f, info.Size())
	if err != nil {
		return nil, err
	}
	d.files[name] = m
	return m, nil
}

// Close lets go of all files; their bytes must not be used any more.
func (d *Folder) Close() error {
	var errs []error
	for _, f := range d.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(append(errs, d.root.Close())...)
}

// plain drops the path from an error, which whoever asked has already.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
