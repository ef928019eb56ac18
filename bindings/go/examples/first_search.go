// SPDX-License-Identifier: MIT

// Adds 1000 vectors with ids, searches, removes one, and saves and loads the index.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	polarquant "github.com/polarquant/polarquant/bindings/go"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	const rows, dim = 1000, 64
	x, ids := make([]float32, rows*dim), make([]int64, rows)
	for i := range ids {
		ids[i] = int64(100 + i)
		for j := 0; j < dim; j++ {
			x[i*dim+j] = float32(math.Sin(float64((i + 1) * (j + 1))))
		}
	}
	ctx, query := context.Background(), x[42*dim:43*dim]

	index, err := polarquant.NewIndex("Polar4", dim, polarquant.Cosine)
	check(err)
	defer index.Close()
	check(index.AddWithIDs(ctx, x, ids, nil))
	search := func(k int) {
		found, scores, err := index.Search(ctx, query, k, nil)
		check(err)
		for i := range found {
			fmt.Printf("%d %.3f\n", found[i], scores[i])
		}
	}
	search(3)
	_, err = index.Remove([]int64{142})
	check(err)
	search(1)

	path := filepath.Join(os.TempDir(), "first.polar")
	check(index.Save(path, nil))
	loaded, err := polarquant.Load(path, nil)
	check(err)
	defer loaded.Close()
	fmt.Println("rows", loaded.Len())
}
