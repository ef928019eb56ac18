// SPDX-License-Identifier: MIT

package polarquant

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readFiles are the texts of files, by their names.
func readFiles(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range patterns {
		names := must(filepath.Glob(pattern))(t)
		for _, name := range names {
			texts[name] = string(must(os.ReadFile(name))(t))
		}
	}
	return texts
}

func TestEveryFunctionOfTheLibraryIsReached(t *testing.T) {
	list, err := os.ReadFile(filepath.Join("..", "..", "tests", "capi", "polarquant_symbols.txt"))
	if err != nil {
		t.Skip("there is no list of functions beside this package")
	}
	code := ""
	for name, text := range readFiles(t, "*.c", "*.go") {
		if !strings.HasSuffix(name, "_test.go") {
			code += text
		}
	}
	excused := map[string]bool{}
	for _, line := range strings.Split(string(must(os.ReadFile("not_reached.txt"))(t)), "\n") {
		if name, reason, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") && reason != "" {
			excused[name] = true
		}
	}
	for _, name := range strings.Fields(string(list)) {
		// The header's own polar_…_init calls it.
		calls := regexp.MustCompile(`\b` + strings.TrimSuffix(name, "_sized") + `\(`).MatchString(code)
		if calls == excused[name] {
			t.Errorf("%s: called %v, in not_reached.txt %v", name, calls, excused[name])
		}
	}
	// What C calls for Go, Go calls.
	for _, wrapper := range regexp.MustCompile(`(?m)^\w+ (polargo_\w+)\(`).FindAllStringSubmatch(
		readFiles(t, "calls.h")["calls.h"], -1) {
		if !strings.Contains(code, "C."+wrapper[1]+"(") {
			t.Errorf("%s: is not called", wrapper[1])
		}
	}
}

func TestReadmeShowsTheExample(t *testing.T) {
	readme := string(must(os.ReadFile("README.md"))(t))
	_, code, _ := strings.Cut(readme, "```go\n")
	code, _, _ = strings.Cut(code, "```")
	example := string(must(os.ReadFile(filepath.Join("examples", "first_search.go")))(t))
	_, example, _ = strings.Cut(example, "\n\n")
	if code != example {
		t.Error("the README's code is not that of examples/first_search.go")
	}
}

func TestEveryFileNamesItsLicence(t *testing.T) {
	for name, text := range readFiles(t, "*.go", "*/*.go", "*.c", "*.h", "*.sh") {
		text = strings.TrimPrefix(text, "#!/usr/bin/env bash\n")
		first, _, _ := strings.Cut(text, "\n")
		if !regexp.MustCompile(`^(//|#|/\*) SPDX-License-Identifier: MIT( \*/)?$`).MatchString(first) {
			t.Errorf("%s begins with %q", name, first)
		}
	}
}

// exported collects what is exported and whether it has a comment.
type exported struct {
	t     *testing.T
	names map[string]bool
}

func (e *exported) add(name string, at *ast.Ident, comment *ast.CommentGroup, begins bool) {
	if !at.IsExported() {
		return
	}
	e.names[name] = true
	if comment == nil || comment.Text() == "" {
		e.t.Errorf("%s has no comment", name)
	} else if begins && !regexp.MustCompile(`^((A|An|The) )?`+at.Name+`\b`).MatchString(comment.Text()) {
		e.t.Errorf("the comment of %s begins with another word: %s", name, comment.Text())
	}
}

func (e *exported) declare(declared ast.Decl) {
	switch d := declared.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			e.add(d.Name.Name, d.Name, d.Doc, true)
			return
		}
		kind := d.Recv.List[0].Type
		if star, ok := kind.(*ast.StarExpr); ok {
			kind = star.X
		}
		if of := kind.(*ast.Ident); of.IsExported() {
			e.add(of.Name+"."+d.Name.Name, d.Name, d.Doc, true)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					comment := s.Doc
					if comment == nil && d.Lparen == token.NoPos {
						comment = d.Doc
					}
					e.add(name.Name, name, comment, true)
				}
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					e.add(s.Name.Name, s.Name, d.Doc, false)
				}
				if fields, ok := s.Type.(*ast.StructType); ok && s.Name.IsExported() {
					e.fields(s.Name.Name, d.Doc, fields)
				}
			}
		}
	}
}

// fields of a type may be told about in its comment.
func (e *exported) fields(of string, comment *ast.CommentGroup, fields *ast.StructType) {
	for _, field := range fields.Fields.List {
		for _, name := range field.Names {
			own := field.Doc
			if own == nil && strings.Contains(comment.Text(), name.Name) || strings.Contains(own.Text(), name.Name) {
				own = comment
			}
			e.add(of+"."+name.Name, name, own, false)
		}
	}
}

func TestEverythingExportedHasAComment(t *testing.T) {
	found := exported{t, map[string]bool{}}
	comments := ""
	files := token.NewFileSet()
	for name, text := range readFiles(t, "*.go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must(parser.ParseFile(files, name, text, parser.ParseComments))(t)
		for _, declared := range file.Decls {
			found.declare(declared)
		}
		for _, comment := range file.Comments {
			comments += comment.Text()
		}
	}
	if len(found.names) < 150 {
		t.Fatalf("only %d names are exported", len(found.names))
	}
	// Links of comments name what there is.
	for _, link := range regexp.MustCompile(`\[\*?([A-Za-z]\w*(?:\.\w+)?)\]`).FindAllStringSubmatch(comments, -1) {
		if name := link[1]; !found.names[name] && name != "context.Context" && !regexp.MustCompile(`^\w(,\w)?$`).MatchString(name) {
			t.Errorf("a comment names [%s]", name)
		}
	}
}
