package plonk_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	gnark "github.com/consensys/gnark/backend/plonk"

	"github.com/zkwarp/zkwarp/gnark/plonk"
)

// Whoever changes the import finds every name of gnark's package, with its type.
func TestNames(t *testing.T) {
	same := map[string][2]any{
		"Setup":           {plonk.Setup, gnark.Setup},
		"Prove":           {plonk.Prove, gnark.Prove},
		"Verify":          {plonk.Verify, gnark.Verify},
		"NewCS":           {plonk.NewCS, gnark.NewCS},
		"NewProvingKey":   {plonk.NewProvingKey, gnark.NewProvingKey},
		"NewProof":        {plonk.NewProof, gnark.NewProof},
		"NewVerifyingKey": {plonk.NewVerifyingKey, gnark.NewVerifyingKey},
		"SRSSize":         {plonk.SRSSize, gnark.SRSSize},
		"Proof":           {new(plonk.Proof), new(gnark.Proof)},
		"ProvingKey":      {new(plonk.ProvingKey), new(gnark.ProvingKey)},
		"VerifyingKey":    {new(plonk.VerifyingKey), new(gnark.VerifyingKey)},
	}
	for name, x := range same {
		if reflect.TypeOf(x[0]) != reflect.TypeOf(x[1]) {
			t.Errorf("%s is a %T, gnark's is a %T", name, x[0], x[1])
		}
	}
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/consensys/gnark/backend/plonk").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var names []*ast.Ident
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil {
					names = append(names, n.Name)
				}
			case *ast.TypeSpec:
				names = append(names, n.Name)
			case *ast.ValueSpec:
				names = append(names, n.Names...)
			case *ast.File, *ast.GenDecl:
				return true
			}
			for _, name := range names {
				if !name.IsExported() {
					continue
				}
				found++
				if _, ok := same[name.Name]; !ok {
					t.Errorf("gnark has %s", name.Name)
				}
			}
			return false
		})
	}
	if found != len(same) {
		t.Errorf("gnark has %d names, want %d", found, len(same))
	}
}
