// SPDX-License-Identifier: MIT

//go:build !polarquant_checkout

package polarquant

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	modulePath    = "github.com/polarquant/polarquant/bindings/go"
	moduleVersion = "v0.1.0" // the tag is bindings/go/v0.1.0
)

// TestModuleIsDownloadedAndUsed makes the module's zip as a proxy has it, and builds and runs the
// example in another module that requires it.
func TestModuleIsDownloadedAndUsed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds everything anew")
	}
	folder := t.TempDir()
	proxy := filepath.Join(folder, "proxy")
	versions := filepath.Join(proxy, filepath.FromSlash(modulePath), "@v")
	check(t, os.MkdirAll(versions, 0o755))
	if moduleVersion != "v"+Version() {
		t.Fatalf("the module is %s, the library %s", moduleVersion, Version())
	}
	goMod := must(os.ReadFile("go.mod"))(t)
	if !strings.Contains(string(goMod), "module "+modulePath+"\n") || strings.Contains(string(goMod), "require") {
		t.Fatalf("go.mod is %s", goMod)
	}
	write := func(path, text string) { check(t, os.WriteFile(path, []byte(text), 0o644)) }
	write(filepath.Join(versions, "list"), moduleVersion+"\n")
	write(filepath.Join(versions, moduleVersion+".info"), fmt.Sprintf(`{"Version":%q}`, moduleVersion))
	write(filepath.Join(versions, moduleVersion+".mod"), string(goMod))
	zipModule(t, filepath.Join(versions, moduleVersion+".zip"))

	program := filepath.Join(folder, "program")
	check(t, os.Mkdir(program, 0o755))
	write(filepath.Join(program, "main.go"), string(must(os.ReadFile(filepath.Join("examples", "first_search.go")))(t)))
	write(filepath.Join(program, "go.mod"), "module example.com/program\n\ngo 1.19\n")
	for _, arguments := range [][]string{{"get", modulePath + "@" + moduleVersion}, {"run", "."}} {
		command := exec.Command("go", arguments...)
		command.Dir = program
		command.Env = append(os.Environ(), "GOPROXY=file://"+proxy, "GOMODCACHE="+filepath.Join(folder, "cache"),
			"GOFLAGS=-modcacherw", "GOSUMDB=off", "GOTOOLCHAIN=local", "TMPDIR="+folder, "GOWORK=off")
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", arguments, err, output)
		}
		if arguments[0] == "run" && !strings.HasSuffix(string(output), "rows 999\n") {
			t.Fatalf("the program prints %s", output)
		}
	}
}

// zipModule writes the files of the module as the go command packs them.
func zipModule(t *testing.T, path string) {
	file := must(os.Create(path))(t)
	archive := zip.NewWriter(file)
	check(t, filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		packed, err := archive.Create(modulePath + "@" + moduleVersion + "/" + filepath.ToSlash(name))
		if err != nil {
			return err
		}
		_, err = packed.Write(data)
		return err
	}))
	check(t, archive.Close())
	check(t, file.Close())
}
