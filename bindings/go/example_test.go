// SPDX-License-Identifier: MIT

package polarquant_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"time"

	polarquant "github.com/polarquant/polarquant/bindings/go"
)

// waves stands in for embeddings: n rows of dim numbers.
func waves(n, dim int) []float32 {
	x := make([]float32, n*dim)
	for i := range x {
		x[i] = float32(math.Sin(float64((i/dim + 1) * (i%dim + 1))))
	}
	return x
}

func Example() {
	const dim = 64
	ctx, rows := context.Background(), waves(100, dim)
	index, err := polarquant.NewIndex("Polar4", dim, polarquant.Cosine)
	if err != nil {
		log.Fatal(err)
	}
	defer index.Close()
	if err := index.Add(ctx, rows, nil); err != nil {
		log.Fatal(err)
	}
	ids, _, err := index.Search(ctx, rows[42*dim:43*dim], 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ids)
	// Output: [42]
}

func ExampleIndex_Search_filter() {
	const dim = 64
	ctx, rows := context.Background(), waves(100, dim)
	index, err := polarquant.NewIndex("Polar4", dim, polarquant.Cosine)
	if err != nil {
		log.Fatal(err)
	}
	defer index.Close()
	if err := index.Add(ctx, rows, nil); err != nil {
		log.Fatal(err)
	}
	options := &polarquant.SearchOptions{
		Filter:    polarquant.NewIDSet(7, 50, 3),
		Exactness: float32(math.Inf(1)), // score every row
	}
	ids, _, err := index.Search(ctx, rows[50*dim:51*dim], 1, options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ids)
	// Output: [50]
}

func ExampleIndex_SearchInto() {
	const dim, k = 64, 1
	ctx, rows := context.Background(), waves(100, dim)
	index, err := polarquant.NewIndex("Polar4", dim, polarquant.Cosine)
	if err != nil {
		log.Fatal(err)
	}
	defer index.Close()
	if err := index.Add(ctx, rows, nil); err != nil {
		log.Fatal(err)
	}
	// Used by all searches of this goroutine.
	ids, scores := make([]int64, k), make([]float32, k)
	for row := 10; row < 13; row++ {
		query := rows[row*dim : (row+1)*dim]
		if err := index.SearchInto(ctx, query, k, nil, ids, scores); err != nil {
			log.Fatal(err)
		}
		fmt.Print(ids[0], " ")
	}
	// Output: 10 11 12
}

func ExampleIndex_Train_cancel() {
	const dim = 64
	index, err := polarquant.NewIndex("IVF64,Polar4", dim, polarquant.Cosine)
	if err != nil {
		log.Fatal(err)
	}
	defer index.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err = index.Train(ctx, waves(50000, dim), nil)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), errors.Is(err, polarquant.ErrCancelled))
	// Output: true true
}

func ExampleCodec() {
	const dim = 64
	ctx, rows := context.Background(), waves(100, dim)
	codec, err := polarquant.NewCodec("Polar2", dim, polarquant.Cosine, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer codec.Close()
	codes, err := codec.Encode(ctx, rows, nil)
	if err != nil {
		log.Fatal(err)
	}
	ids, _, err := codec.Search(ctx, rows[7*dim:8*dim], codes, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(rows)*4, "bytes are", len(codes.Bytes), "and row", ids[0], "is found")
	// Output: 25600 bytes are 2000 and row 7 is found
}

func ExampleError() {
	_, err := polarquant.NewIndex("Polar4", 0, polarquant.L2)
	fmt.Println(errors.Is(err, polarquant.ErrBadArgument))
	fmt.Println(err)
	// Output:
	// true
	// polarquant: dim: 0 is not allowed; 1 to 65535
}
