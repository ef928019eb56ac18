// SPDX-License-Identifier: MIT

package polarquant

import (
	"context"
	"math"
	"testing"
)

var background = context.Background()

// must returns a value, or ends the test with the error.
func must[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// someRows are n rows of about the normal distribution, the same for the same seed.
func someRows(seed uint64, n, dim int) []float32 {
	return (&madeRows{Seed: seed, N: n}).rows(dim)
}

// countedIDs are first, first + 1, …
func countedIDs(first, n int) []int64 {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(first + i)
	}
	return ids
}

// makeIndex returns a trained index with these rows, whose ids are 0, 1, …
func makeIndex(t testing.TB, description string, dim int, rows []float32) *Index {
	t.Helper()
	index := must(NewIndex(description, dim, L2))(t)
	t.Cleanup(func() { index.Close() })
	check(t, index.Train(background, rows, nil))
	check(t, index.AddWithIDs(background, rows, countedIDs(0, len(rows)/dim), nil))
	return index
}

// everyRow are the options that score every row.
func everyRow(filter Filter) *SearchOptions {
	return &SearchOptions{Exactness: float32(math.Inf(1)), Filter: filter}
}
