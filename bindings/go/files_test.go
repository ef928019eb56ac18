// SPDX-License-Identifier: MIT

package polarquant

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFilesAndStreamsHaveTheSameBytes(t *testing.T) {
	const dim = 24
	rows := someRows(1, 300, dim)
	index := makeIndex(t, "Polar4", dim, rows)
	wanted, _, err := index.Search(background, rows[:5*dim], 5, nil)
	check(t, err)
	path := filepath.Join(t.TempDir(), "an index ä.polar")
	check(t, index.Save(path, &SaveOptions{Verify: true}))
	data := must(os.ReadFile(path))(t)
	var stream bytes.Buffer
	if n := must(index.WriteTo(&stream))(t); n != int64(len(data)) || !bytes.Equal(stream.Bytes(), data) {
		t.Fatalf("%d bytes, %d in the file", n, len(data))
	}
	stream.WriteString("what follows")
	loads := []func() (*Index, error){
		func() (*Index, error) { return Load(path, nil) },
		func() (*Index, error) { return Load(path, &LoadOptions{MemoryMap: true}) },
		func() (*Index, error) { return ReadIndex(&stream, nil) },
		func() (*Index, error) { return ReadIndex(iotest.OneByteReader(bytes.NewReader(data)), nil) },
		func() (*Index, error) { return ReadIndex(iotest.DataErrReader(bytes.NewReader(data)), nil) },
	}
	for i, load := range loads {
		loaded := must(load())(t)
		found, _, err := loaded.Search(background, rows[:5*dim], 5, nil)
		check(t, err)
		if !reflect.DeepEqual(found, wanted) {
			t.Errorf("way %d finds %v", i, found)
		}
		check(t, loaded.Verify())
		if err := loaded.AddWithIDs(background, rows[:dim], []int64{1000}, nil); (err == nil) != (i != 1) {
			t.Errorf("way %d: %v", i, err)
		}
		check(t, loaded.Close())
	}
	if left := stream.String(); left != "what follows" {
		t.Fatalf("%q is left", left)
	}
}

type brokenPipe struct{ left int }

var errBroken = errors.New("the pipe is broken")

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) / 2, nil }

func TestFilesThatFail(t *testing.T) {
	index := makeIndex(t, "Polar4", 24, someRows(1, 300, 24))
	if _, err := index.WriteTo(&brokenPipe{100}); !errors.Is(err, ErrIO) || !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if _, err := index.WriteTo(shortWriter{}); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	var stream bytes.Buffer
	must(index.WriteTo(&stream))(t)
	data := stream.Bytes()
	if _, err := ReadIndex(bytes.NewReader(data[:len(data)/2]), nil); err == nil {
		t.Error("half of a file is an index")
	}
	if _, err := ReadIndex(iotest.TimeoutReader(bytes.NewReader(data)), nil); !errors.Is(err, ErrIO) || !errors.Is(err, iotest.ErrTimeout) {
		t.Error(err)
	}
	if _, err := ReadIndex(strings.NewReader(""), nil); err == nil {
		t.Error("nothing is an index")
	}
	if _, err := ReadIndex(bytes.NewReader(data), &LoadOptions{MemoryMap: true}); err == nil {
		t.Error("a stream can be mapped")
	}
	if err := index.Save(filepath.Join(t.TempDir(), "no folder", "index.polar"), nil); !errors.Is(err, ErrIO) {
		t.Error(err)
	}
	for _, path := range []string{"a\x00b", ""} {
		if _, err := Load(path, nil); err == nil {
			t.Errorf("%q can be loaded", path)
		}
		if err := index.Save(path, nil); err == nil {
			t.Errorf("%q can be saved", path)
		}
	}
}

func TestFAISSPartsWantTrust(t *testing.T) {
	const dim = 8
	rows := someRows(1, 100, dim)
	index := must(NewIndex("IVF2,Flat", dim, L2))(t)
	defer index.Close()
	check(t, index.Train(background, rows, nil))
	check(t, index.Add(background, rows, nil))
	path := filepath.Join(t.TempDir(), "index.polar")
	check(t, index.Save(path, nil))
	if _, err := Load(path, nil); !errors.Is(err, ErrUnsupported) {
		t.Fatal(err)
	}
	loaded := must(Load(path, &LoadOptions{TrustFAISS: true}))(t)
	defer loaded.Close()
	if loaded.Len() != 100 {
		t.Fatal(loaded.Len())
	}
}
