package groth16

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exported is the exported names of the package in a folder, with the signatures of
// functions less the names of parameters.
func exported(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					names[d.Name.Name] = signature(t, d.Type)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if s.Name.IsExported() {
							names[s.Name.Name] = "type"
						}
					case *ast.ValueSpec:
						for _, n := range s.Names {
							if n.IsExported() {
								names[n.Name] = d.Tok.String()
							}
						}
					}
				}
			}
		}
	}
	return names
}

func signature(t *testing.T, f *ast.FuncType) string {
	var parts []string
	for _, list := range []*ast.FieldList{f.Params, f.Results} {
		var types []string
		if list != nil {
			for _, field := range list.List {
				var b bytes.Buffer
				if err := printer.Fprint(&b, token.NewFileSet(), field.Type); err != nil {
					t.Fatal(err)
				}
				for range max(1, len(field.Names)) {
					types = append(types, b.String())
				}
			}
		}
		parts = append(parts, "("+strings.Join(types, ", ")+")")
	}
	return "func" + strings.Join(parts, " ")
}

// Whoever changes the import finds every name of gnark's package, with its signature.
func TestNames(t *testing.T) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/consensys/gnark/backend/groth16").Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := exported(t, strings.TrimSpace(string(dir))), exported(t, ".")
	if len(theirs) < 11 {
		t.Fatalf("gnark exports %v", theirs)
	}
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if ours[name] != theirs[name] {
			t.Errorf("%s is %q, gnark's is %q", name, ours[name], theirs[name])
		}
	}
}
