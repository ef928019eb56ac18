// SPDX-License-Identifier: MIT

package polarquant

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"
)

// slowCall is what takes seconds unless it is cancelled: a search with a filter that waits.
func slowCall(ctx context.Context, index *Index, options *SearchOptions) error {
	options.Filter = FilterFunc(func(int64) bool {
		time.Sleep(time.Millisecond)
		return true
	})
	options.Exactness = float32(math.Inf(1))
	_, _, err := index.Search(ctx, make([]float32, index.Dim()), 1, options)
	return err
}

func TestContextEndsALongCall(t *testing.T) {
	const dim, n = 64, 200000
	index := must(NewIndex("Polar4", dim, L2))(t)
	defer index.Close()
	rows := make([]float32, n*dim)
	for i := range rows {
		rows[i] = float32(i % 97)
	}
	for _, progress := range []func(float64){nil, func(float64) {}} {
		ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
		begin := time.Now()
		err := index.Add(ctx, rows, &WorkOptions{NumThreads: 1, Progress: progress})
		cancel()
		if !errors.Is(err, ErrCancelled) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v after %v", err, time.Since(begin))
		}
		if index.Len() != 0 {
			t.Fatal(index.Len())
		}
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if err := index.Add(ctx, rows[:dim], nil); !errors.Is(err, ErrCancelled) || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	check(t, index.Add(background, rows[:100*dim], nil))
	ctx, cancel = context.WithTimeout(background, time.Hour)
	defer cancel()
	check(t, index.Add(ctx, rows[:dim], nil))
	check(t, index.Add(nil, rows[:dim], nil))
}

func TestContextEndsASearch(t *testing.T) {
	index := makeIndex(t, "Polar4", 16, someRows(1, 20000, 16))
	ctx, cancel := context.WithCancel(background)
	time.AfterFunc(30*time.Millisecond, cancel)
	begin := time.Now()
	err := slowCall(ctx, index, &SearchOptions{NumThreads: 2})
	if !errors.Is(err, context.Canceled) || time.Since(begin) > 10*time.Second {
		t.Fatalf("%v after %v", err, time.Since(begin))
	}
}

func TestProgressIsTold(t *testing.T) {
	const dim = 64
	rows := make([]float32, 30000*dim)
	for i := range rows {
		rows[i] = float32(i % 89)
	}
	codec := makeCodec(t, "Polar4", dim, L2)
	told, last := 0, 0.0
	codes := must(codec.Encode(background, rows, &WorkOptions{Progress: func(done float64) {
		told++
		if done < last || done > 1 {
			t.Errorf("%v after %v", done, last)
		}
		last = done
	}}))(t)
	if told == 0 {
		t.Error("encoding tells nothing")
	}
	told = 0
	queries := rows[:100*dim]
	_, _, err := codec.Search(background, queries, codes, 5, &SearchOptions{Progress: func(float64) { told++ }})
	check(t, err)
	if told == 0 {
		t.Error("searching tells nothing")
	}
}

// panicOf is what a function panics with.
func panicOf(do func()) (value any) {
	defer func() { value = recover() }()
	do()
	return nil
}

func TestPanicsGoOnInTheCaller(t *testing.T) {
	const dim = 16
	rows := someRows(1, 5000, dim)
	index := makeIndex(t, "Polar4", dim, rows)
	panics := []func(){
		func() {
			keep := FilterFunc(func(int64) bool { panic("keep") })
			index.Search(background, rows[:dim], 1, everyRow(keep))
		},
		func() {
			index.Search(background, rows, 1, &SearchOptions{Progress: func(float64) { panic("progress") }})
		},
		func() { index.WriteTo(panicWriter{}) },
		func() { ReadIndex(panicReader{}, nil) },
		func() {
			Advise(background, rows, dim, L2, nil, &AdviceOptions{Specs: []string{"Polar1"}, Progress: func(float64) { panic("advice") }})
		},
	}
	for i, wanted := range []string{"keep", "progress", "writer", "reader", "advice"} {
		if value := panicOf(panics[i]); value != wanted {
			t.Errorf("%v, wanted %v", value, wanted)
		}
	}
	if _, _, err := index.Search(background, rows[:dim], 1, nil); err != nil {
		t.Fatal(err)
	}
}

type panicWriter struct{}

func (panicWriter) Write([]byte) (int, error) { panic("writer") }

type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("reader") }
