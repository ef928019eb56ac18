// SPDX-License-Identifier: MIT

// Measures what a search costs in Go beyond the same search in C: medians over rounds in which the
// ways take turns.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"sort"
	"time"

	polarquant "github.com/polarquant/polarquant/bindings/go"
)

const (
	dim = 64
	k   = 10
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// way is one way to search many times.
type way struct {
	name   string
	base   int // the way in C that does the same
	search func(times int)
	took   []float64
}

func (w *way) median() float64 {
	sorted := append([]float64(nil), w.took...)
	sort.Float64s(sorted)
	return sorted[len(sorted)/2]
}

func main() {
	rows := flag.Int("rows", 64, "rows searched")
	times := flag.Int("times", 5000, "searches a round")
	rounds := flag.Int("rounds", 15, "rounds")
	most := flag.Float64("most", 0, "microseconds over C that a search into slices may take; 0: any")
	flag.Parse()

	x := make([]float32, *rows*dim)
	state := uint32(1)
	for i := range x {
		state = state*1664525 + 1013904223
		x[i] = float32(state>>8)/(1<<24) - 0.5
	}
	inC := newCIndex("Polar4", dim, x, k)
	defer inC.close()
	index, err := polarquant.NewIndex("Polar4", dim, polarquant.L2)
	check(err)
	defer index.Close()
	background := context.Background()
	check(index.Train(background, x, nil))
	check(index.Add(background, x, nil))
	q, ids, scores := x[:dim], make([]int64, k), make([]float32, k)
	cancellable, cancel := context.WithCancel(background)
	defer cancel()
	options := &polarquant.SearchOptions{NumThreads: 1}

	into := func(ctx context.Context, options *polarquant.SearchOptions) func(int) {
		return func(times int) {
			for i := 0; i < times; i++ {
				check(index.SearchInto(ctx, q, k, options, ids, scores))
			}
		}
	}
	ways := []*way{
		{name: "C", search: func(times int) { inC.search(q, times, false) }},
		{name: "C, options", base: 1, search: func(times int) { inC.search(q, times, true) }},
		{name: "SearchInto", search: into(background, nil)},
		{name: "SearchInto, options", base: 1, search: into(background, options)},
		{name: "SearchInto, context", search: into(cancellable, nil)},
		{name: "Search", search: func(times int) {
			for i := 0; i < times; i++ {
				_, _, err := index.Search(background, q, k, nil)
				check(err)
			}
		}},
	}
	for round := -1; round < *rounds; round++ { // the first one warms up
		for _, w := range ways {
			begin := time.Now()
			w.search(*times)
			if round >= 0 {
				w.took = append(w.took, float64(time.Since(begin).Nanoseconds())/1000/float64(*times))
			}
		}
	}
	failed := false
	for i, w := range ways {
		over := w.median() - ways[w.base].median()
		fmt.Printf("%-20s %7.3f us a search, %+.3f over C\n", w.name, w.median(), over)
		failed = failed || *most > 0 && i >= 2 && over > *most
	}
	if failed {
		fmt.Printf("more than %.3f us over C\n", *most)
		os.Exit(1)
	}
}
