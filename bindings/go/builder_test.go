// SPDX-License-Identifier: MIT

package polarquant

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

const (
	builtDim    = 32
	leastMemory = 1 << 20
	// manyRows make more than one part of the least size.
	manyRows = 40000
)

func trainedIndex(t testing.TB, description string, rows []float32) *Index {
	t.Helper()
	index := must(NewIndex(description, builtDim, L2))(t)
	t.Cleanup(func() { index.Close() })
	check(t, index.Train(background, rows[:2000*builtDim], nil))
	return index
}

// fileOfOneIndex is what an index with all rows is saved as.
func fileOfOneIndex(t testing.TB, index *Index, rows []float32, ids []int64) []byte {
	t.Helper()
	whole := must(index.Clone())(t)
	defer whole.Close()
	if ids == nil {
		check(t, whole.Add(background, rows, nil))
	} else {
		check(t, whole.AddWithIDs(background, rows, ids, nil))
	}
	var file bytes.Buffer
	must(whole.WriteTo(&file))(t)
	return file.Bytes()
}

// saveShards saves the rows up to each of these ends in files.
func saveShards(t testing.TB, index *Index, rows []float32, ids []int64, folder string, ends ...int) []string {
	t.Helper()
	first, paths := 0, []string{}
	for i, end := range ends {
		shard := must(index.Clone())(t)
		defer shard.Close()
		check(t, shard.AddWithIDs(background, rows[first*builtDim:end*builtDim], ids[first:end], nil))
		paths = append(paths, filepath.Join(folder, "shard"+string(rune('0'+i))))
		check(t, shard.Save(paths[i], nil))
		first = end
	}
	return paths
}

// checkFailed wants an error of this status, whose text has this part.
func checkFailed(t testing.TB, err error, status Status, part string) {
	t.Helper()
	if !errors.Is(err, status) || !strings.Contains(err.Error(), part) {
		t.Errorf("%v; wanted %v with %q", err, status, part)
	}
}

func TestAFileBuiltInPartsIsThatOfOneIndex(t *testing.T) {
	rows, all := someRows(1, manyRows, builtDim), countedIDs(5, manyRows)
	for _, one := range []struct {
		description string
		ids         []int64
	}{{"Polar8", nil}, {"Polar8", all}, {"IVF7,Polar4", all}} {
		index := trainedIndex(t, one.description, rows)
		path := filepath.Join(t.TempDir(), "built")
		builder := must(NewBuilder(index, path, &BuilderOptions{MemoryBytes: leastMemory}))(t)
		if builder.Dim() != builtDim || builder.Len() != 0 || builder.Written() != 0 {
			t.Fatal(builder.Dim(), builder.Len(), builder.Written())
		}
		first := 0
		for _, end := range []int{1, 1, 5000, manyRows} {
			x := rows[first*builtDim : end*builtDim]
			if one.ids == nil {
				check(t, builder.Add(background, x, nil))
			} else {
				check(t, builder.AddWithIDs(background, x, one.ids[first:end], nil))
			}
			if first = end; end == 5000 {
				check(t, builder.WritePart())
			}
			if builder.Len() != end || end == 5000 && builder.Written() != end {
				t.Fatal(builder.Len(), builder.Written())
			}
		}
		if written := builder.Written(); one.description == "Polar8" && (written <= 5000 || written == manyRows) {
			t.Fatal(written)
		}
		check(t, builder.Finish(background, nil))
		if !bytes.Equal(must(os.ReadFile(path))(t), fileOfOneIndex(t, index, rows, one.ids)) {
			t.Errorf("%s: another file", one.description)
		}
		if _, err := os.Stat(path + ".parts"); !os.IsNotExist(err) {
			t.Error(err)
		}
		checkFailed(t, builder.Add(background, rows[:builtDim], nil), ErrStateMismatch, "finished")
		checkFailed(t, builder.WritePart(), ErrStateMismatch, "finished")
		checkFailed(t, builder.Finish(background, nil), ErrStateMismatch, "finished")
		check(t, builder.Close())
		check(t, builder.Close())
		if err := builder.Add(background, rows[:builtDim], nil); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if err := builder.Finish(background, nil); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if builder.Len() != manyRows {
			t.Error(builder.Len())
		}
	}
}

func TestABuildGoesOnAfterItsLastPart(t *testing.T) {
	rows := someRows(2, 3000, builtDim)
	index := trainedIndex(t, "IVF7,Polar4", rows)
	path := filepath.Join(t.TempDir(), "built")
	builder := must(NewBuilder(index, path, nil))(t)
	check(t, builder.Add(background, rows[:1000*builtDim], nil))
	check(t, builder.WritePart())
	check(t, builder.Add(background, rows[1000*builtDim:1500*builtDim], nil))
	_, err := ResumeBuilder(path, nil)
	checkFailed(t, err, ErrIO, "in use")
	check(t, builder.Close()) // 500 rows are lost

	_, err = NewBuilder(index, path, nil)
	checkFailed(t, err, ErrBadArgument, "replace")
	builder = must(ResumeBuilder(path, &BuilderOptions{MemoryBytes: leastMemory}))(t)
	if builder.Len() != 1000 || builder.Written() != 1000 || builder.Dim() != builtDim {
		t.Fatal(builder.Len(), builder.Written(), builder.Dim())
	}
	check(t, builder.Add(background, rows[1000*builtDim:], nil))
	check(t, builder.Finish(background, nil))
	check(t, builder.Close())
	if !bytes.Equal(must(os.ReadFile(path))(t), fileOfOneIndex(t, index, rows, nil)) {
		t.Error("another file")
	}
	_, err = ResumeBuilder(path, nil)
	checkFailed(t, err, ErrNotFound, "built.parts")

	builder = must(NewBuilder(index, path, nil))(t)
	check(t, builder.Add(background, rows[:50*builtDim], nil))
	check(t, builder.WritePart())
	check(t, builder.Close())
	builder = must(NewBuilder(index, path, &BuilderOptions{Replace: true}))(t)
	defer builder.Close()
	check(t, builder.Add(background, rows[:7*builtDim], nil))
	check(t, builder.Finish(background, nil))
	built := must(Load(path, nil))(t)
	defer built.Close()
	if built.Len() != 7 {
		t.Error(built.Len())
	}
}

func TestMergedFilesAndShardsAreOneIndex(t *testing.T) {
	rows, ids := someRows(3, 3000, builtDim), countedIDs(5, 3000)
	for _, description := range []string{"Polar4", "IVF7,Polar4"} {
		folder := t.TempDir()
		index := trainedIndex(t, description, rows)
		paths := saveShards(t, index, rows, ids, folder, 1000, 3000)
		merged := filepath.Join(folder, "merged")
		check(t, MergeFiles(background, paths, merged, nil))
		wanted := fileOfOneIndex(t, index, rows, ids)
		if !bytes.Equal(must(os.ReadFile(merged))(t), wanted) {
			t.Errorf("%s: another file", description)
		}
		one, shards := must(Load(merged, nil))(t), must(OpenShards(paths))(t)
		defer one.Close()
		defer shards.Close()
		for _, exactness := range []float32{2, float32(math.Inf(1))} {
			options := &SearchOptions{Exactness: exactness}
			found, scores, err := shards.Search(background, rows[500*builtDim:570*builtDim], 10, options)
			check(t, err)
			wantedIDs, wantedScores, err := one.Search(background, rows[500*builtDim:570*builtDim], 10, options)
			check(t, err)
			if !reflect.DeepEqual(found, wantedIDs) || !reflect.DeepEqual(scores, wantedScores) {
				t.Errorf("%s: other answers", description)
			}
		}
		check(t, shards.Verify())
		var file bytes.Buffer
		must(shards.WriteTo(&file))(t)
		if shards.Len() != 3000 || !bytes.Equal(file.Bytes(), wanted) {
			t.Errorf("%s: another file of shards", description)
		}
		checkFailed(t, shards.AddWithIDs(background, rows[:builtDim], []int64{9000}, nil), ErrUnsupported, "memory-mapped")

		state := filepath.Join(folder, "state")
		some := must(index.Clone())(t)
		defer some.Close()
		check(t, some.Add(background, rows[:100*builtDim], nil))
		check(t, some.Save(state, nil))
		like := must(LoadEmpty(state))(t)
		defer like.Close()
		if like.Len() != 0 || !like.IsTrained() || !bytes.Equal(fileOfOneIndex(t, like, rows, ids), wanted) {
			t.Errorf("%s: an index that codes otherwise", description)
		}
	}
}

func TestFilesThatDoNotFitAreNamed(t *testing.T) {
	rows, ids := someRows(4, 3000, builtDim), countedIDs(5, 3000)
	folder := t.TempDir()
	out := filepath.Join(folder, "out")
	paths := saveShards(t, trainedIndex(t, "IVF7,Polar4", rows), rows, ids, folder, 1000, 2000)
	open := func(paths ...string) error {
		index, err := OpenShards(paths)
		if err == nil {
			index.Close()
		}
		return err
	}
	checkFailed(t, MergeFiles(background, nil, out, nil), ErrBadArgument, "n: 0")
	checkFailed(t, open(), ErrBadArgument, "n: 0")
	checkFailed(t, MergeFiles(background, []string{"a\x00b"}, out, nil), ErrBadArgument, "paths")
	checkFailed(t, MergeFiles(background, paths, "a\x00b", nil), ErrBadArgument, "out")
	checkFailed(t, open("a\x00b"), ErrBadArgument, "paths")
	checkFailed(t, MergeFiles(background, append(paths, paths[0]), out, nil), ErrBadArgument, "there twice")
	other := filepath.Join(folder, "other")
	checkFailed(t, open(paths[0], other), ErrIO, "other")
	check(t, trainedIndex(t, "IVF7,Polar2", rows).Save(other, nil))
	checkFailed(t, MergeFiles(background, append(paths, other), out, nil), ErrStateMismatch, "other")
	checkFailed(t, open(paths[0], other), ErrStateMismatch, "other")
	_, err := LoadEmpty(filepath.Join(folder, "none"))
	checkFailed(t, err, ErrIO, "none")
	_, err = LoadEmpty("a\x00b")
	checkFailed(t, err, ErrBadArgument, "path")
	ctx, cancel := context.WithCancel(background)
	cancel()
	err = MergeFiles(ctx, paths, out, nil)
	checkFailed(t, err, ErrCancelled, "")
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Error(err)
	}
}

func TestWhatABuilderRefuses(t *testing.T) {
	rows := someRows(5, 3000, builtDim)
	path := filepath.Join(t.TempDir(), "built")
	begin := func(index *Index, path string, options *BuilderOptions) error {
		builder, err := NewBuilder(index, path, options)
		if err == nil {
			builder.Close()
		}
		return err
	}
	untrained := must(NewIndex("Polar4", builtDim, L2))(t)
	defer untrained.Close()
	checkFailed(t, begin(untrained, path, nil), ErrNotTrained, "not trained")
	graph := must(NewIndex("HNSW8,Polar4", builtDim, L2))(t)
	checkFailed(t, begin(graph, path, nil), ErrUnsupported, "HNSW8,Polar4")
	check(t, graph.Close())
	if err := begin(graph, path, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	checkFailed(t, begin(nil, path, nil), ErrBadArgument, "index")
	index := trainedIndex(t, "Polar4", rows)
	checkFailed(t, begin(index, "a\x00b", nil), ErrBadArgument, "path")
	for _, bytes := range []int64{leastMemory - 1, -1, math.MinInt64} {
		checkFailed(t, begin(index, path, &BuilderOptions{MemoryBytes: bytes}), ErrBadArgument, "memory_bytes")
	}
	builder := must(NewBuilder(index, path, nil))(t)
	defer builder.Close()
	check(t, index.Add(background, rows[:5*builtDim], nil))
	checkFailed(t, begin(index, path+"2", nil), ErrStateMismatch, "5 rows")
	check(t, index.Close()) // the builder has a copy
	checkFailed(t, builder.Add(background, rows[:builtDim+1], nil), ErrBadArgument, "rows")
	checkFailed(t, builder.AddWithIDs(background, rows[:builtDim], []int64{1, 2}, nil), ErrBadArgument, "ids")
	check(t, builder.AddWithIDs(background, rows[:2*builtDim], []int64{1, 2}, nil))
	checkFailed(t, builder.Add(background, rows[:builtDim], nil), ErrBadArgument, "ids")
	checkFailed(t, builder.AddWithIDs(background, rows[:builtDim], []int64{2}, nil), ErrBadArgument, "ids must differ")
	check(t, builder.WritePart())
	check(t, builder.AddWithIDs(background, rows[:builtDim], []int64{2}, nil))
	// An id of another part is found in the end, and the parts stay.
	for i := 0; i < 2; i++ {
		checkFailed(t, builder.Finish(background, nil), ErrBadArgument, "id 2 is there twice")
	}
	if builder.Len() != 3 {
		t.Error(builder.Len())
	}
}

func TestBuildingIsToldOfAndStopped(t *testing.T) {
	rows := someRows(6, manyRows, builtDim)
	path := filepath.Join(t.TempDir(), "built")
	builder := must(NewBuilder(trainedIndex(t, "Polar4", rows), path, nil))(t)
	defer builder.Close()
	ctx, cancel := context.WithCancel(background)
	stopping := &WorkOptions{NumThreads: 1, Progress: func(float64) {
		builder.Len() // does not wait
		cancel()
	}}
	err := builder.Add(ctx, rows, stopping)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	checkFailed(t, builder.Add(ctx, rows, nil), ErrCancelled, "")
	in := builder.Len()
	check(t, builder.Add(background, rows[in*builtDim:], nil))
	checkFailed(t, builder.Finish(ctx, nil), ErrCancelled, "")
	panicking := &WorkOptions{Progress: func(float64) { panic("progress") }}
	if value := panicOf(func() { builder.Finish(background, panicking) }); value != "progress" {
		t.Error(value)
	}
	last := 0.0
	check(t, builder.Finish(background, &WorkOptions{Progress: func(done float64) {
		if done < last || done > 1 {
			t.Errorf("%v after %v", done, last)
		}
		last = done
	}}))
	if last != 1 {
		t.Error(last)
	}
	built := must(Load(path, nil))(t)
	defer built.Close()
	if built.Len() != manyRows {
		t.Error(built.Len())
	}
}

func TestGoroutinesAddToOneBuilder(t *testing.T) {
	rows := someRows(7, 2000, builtDim)
	path := filepath.Join(t.TempDir(), "built")
	builder := must(NewBuilder(trainedIndex(t, "Polar4", rows), path, nil))(t)
	defer builder.Close()
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < 20; j++ {
				if err := builder.Add(background, rows[:10*builtDim], nil); err != nil {
					t.Error(err)
				}
				builder.Len()
			}
		}()
	}
	group.Wait()
	if builder.Len() != 1600 {
		t.Error(builder.Len())
	}
	check(t, builder.Finish(background, nil))
}
