// SPDX-License-Identifier: MIT

//go:build linux

// Makes, uses and closes objects of every kind many times, then leaves some to their finalizers, and
// fails where C's memory has grown.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	polarquant "github.com/polarquant/polarquant/bindings/go"
)

const dim = 16

var (
	background = context.Background()
	rows       = make([]float32, 8*dim)
	ids        = []int64{7, 3, 9, 1, 5, 2, 8, 4}
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// makeIndex returns an index of 8 rows, after a search.
func makeIndex() *polarquant.Index {
	index, err := polarquant.NewIndex("Polar4", dim, polarquant.L2)
	check(err)
	check(index.Train(background, rows, nil))
	check(index.AddWithIDs(background, rows, ids, nil))
	_, _, err = index.Search(background, rows[:dim], 3, nil)
	check(err)
	return index
}

func useIndex() {
	index := makeIndex()
	defer index.Close()
	filter, err := polarquant.PrepareFilter(polarquant.IDSet{1, 2, 3})
	check(err)
	defer filter.Close()
	_, _, err = index.Search(background, rows[:dim], 3, &polarquant.SearchOptions{Filter: filter})
	check(err)
	_, err = index.Remove(ids[:2])
	check(err)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	even := polarquant.FilterFunc(func(id int64) bool { return id%2 == 0 })
	_, err = index.RangeSearch(ctx, rows[:dim], 1, &polarquant.SearchOptions{Filter: even})
	check(err)
	partial, err := index.SearchPartial(background, 0, rows[:dim], 3, nil)
	check(err)
	_, _, err = polarquant.MergePartials([][]byte{partial, partial}, 1, 3)
	check(err)
	if _, err = index.SearchPartial(background, -1, rows[:dim], 3, nil); !errors.Is(err, polarquant.ErrBadArgument) {
		log.Fatal(err)
	}
	if _, err = index.Reconstruct(1000); !errors.Is(err, polarquant.ErrNotFound) {
		log.Fatal(err)
	}
}

func useFile() {
	index := makeIndex()
	defer index.Close()
	var file bytes.Buffer
	_, err := index.WriteTo(&file)
	check(err)
	loaded, err := polarquant.ReadIndex(&file, nil)
	check(err)
	defer loaded.Close()
	clone, err := loaded.Clone()
	check(err)
	check(clone.Close())
	if _, err = polarquant.ReadIndex(strings.NewReader("no index"), nil); !errors.Is(err, polarquant.ErrCorruptData) {
		log.Fatal(err)
	}
}

// makeQuery uses a codec, which it leaves open.
func makeQuery() (*polarquant.Codec, *polarquant.Query) {
	codec, err := polarquant.NewCodec("Polar2", dim, polarquant.InnerProduct, nil)
	check(err)
	codes, err := codec.Encode(background, rows, nil)
	check(err)
	query, err := codec.PrepareQuery(rows[:dim])
	check(err)
	_, err = codec.Score(background, query, codes, nil)
	check(err)
	blocks, err := polarquant.NewBlocks(codec)
	check(err)
	check(blocks.Append(codes))
	_, _, err = blocks.Search(background, rows[:dim], 2, nil)
	check(err)
	return codec, query
}

func useCodec() {
	codec, query := makeQuery()
	defer codec.Close()
	defer query.Close()
	state, err := codec.SaveState()
	check(err)
	loaded, err := polarquant.LoadCodec(state)
	check(err)
	check(loaded.Close())
}

var foldersUsed int

// useFolder makes and closes a builder, and fails to make others.
func useFolder() {
	index, err := polarquant.NewIndex("Polar4", dim, polarquant.L2)
	check(err)
	defer index.Close()
	path := filepath.Join(os.TempDir(), fmt.Sprintf("leaks-%d", os.Getpid()))
	if _, err = polarquant.NewBuilder(index, path, nil); !errors.Is(err, polarquant.ErrNotTrained) {
		log.Fatal(err)
	}
	if _, err = polarquant.OpenShards([]string{path, path}); !errors.Is(err, polarquant.ErrIO) {
		log.Fatal(err)
	}
	// One is written to disk, which takes longer than all else.
	if foldersUsed++; foldersUsed%100 != 1 {
		return
	}
	check(index.Train(background, rows, nil))
	builder, err := polarquant.NewBuilder(index, path, nil)
	check(err)
	check(builder.Close())
	check(os.RemoveAll(path + ".parts"))
}

// collect runs finalizers until their objects are gone.
func collect() {
	for i := 0; i < 5; i++ {
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
	}
}

func main() {
	rounds := flag.Int("rounds", 2000, "how often objects are made")
	flag.Parse()
	for i := range rows {
		rows[i] = float32(i*i%17) - 8
	}
	failed := false
	measure := func(name string, do func()) {
		for i := 0; i < 500; i++ { // what is made once
			do()
		}
		collect()
		before := allocatedBytes()
		for i := 0; i < *rounds; i++ {
			do()
		}
		collect()
		grown := allocatedBytes() - before
		// Less than the smallest allocation a round, beyond what threads keep.
		most := int64(8**rounds + 200_000)
		fmt.Printf("%-28s %d rounds, %+d bytes\n", name, *rounds, grown)
		failed = failed || grown > most
	}
	measure("index, filter, error", useIndex)
	measure("file, clone, error", useFile)
	measure("codec, query, blocks, state", useCodec)
	measure("builder, shards, error", useFolder)
	measure("index left to its finalizer", func() { makeIndex() })
	measure("codec left to its finalizer", func() { makeQuery() })
	if failed {
		fmt.Println("C's memory has grown")
		os.Exit(1)
	}
}
