// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import "context"

// Reconstruction is which vector stands for a code.
type Reconstruction int32

const (
	// LeastError is the vector nearest to x on average.
	LeastError Reconstruction = C.POLAR_RECONSTRUCTION_LEAST_ERROR
	// Unbiased is the vector whose inner products are unbiased.
	Unbiased Reconstruction = C.POLAR_RECONSTRUCTION_UNBIASED
)

// Encode returns the codes of n ≥ 0 rows, n·dim numbers. [ErrBadArgument] that names the row for one
// that is not finite, or longer than scores can hold (2^61); [ErrNotTrained].
func (c *Codec) Encode(ctx context.Context, rows []float32, options *WorkOptions) (Codes, error) {
	n, err := countRows("rows", rows, c.dim)
	if err != nil {
		return Codes{}, err
	}
	bytes, err := c.EncodedBytes(n)
	if err != nil {
		return Codes{}, err
	}
	codes := Codes{Bytes: make([]byte, bytes), Rows: n}
	if err := c.EncodeInto(ctx, rows, codes.Bytes, options); err != nil {
		return Codes{}, err
	}
	return codes, nil
}

// EncodeInto is Encode into a slice of EncodedBytes(n) bytes. After an error it holds nothing of use.
func (c *Codec) EncodeInto(ctx context.Context, rows []float32, codes []byte, options *WorkOptions) error {
	return c.work(ctx, options, func(object C.polargo_codec, work C.polargo_work) C.polargo_result {
		return C.polargo_codec_encode(object, C.int64_t(len(rows)/c.dim), floatsOf(rows), work,
			bytesOf(codes), C.size_t(len(codes)))
	}, floatCheck{"rows", rows})
}

// Decode returns the vectors of codes, Rows·dim numbers.
func (c *Codec) Decode(ctx context.Context, codes Codes, kind Reconstruction, options *WorkOptions) ([]float32, error) {
	n, err := c.countDecoded(codes)
	if err != nil {
		return nil, err
	}
	rows := make([]float32, n)
	if err := c.DecodeInto(ctx, codes, kind, rows, options); err != nil {
		return nil, err
	}
	return rows, nil
}

// DecodeInto is Decode into a slice of Rows·dim numbers. After an error it holds nothing of use.
func (c *Codec) DecodeInto(ctx context.Context, codes Codes, kind Reconstruction, rows []float32, options *WorkOptions) error {
	n, err := c.countDecoded(codes)
	if err != nil {
		return err
	}
	return c.work(ctx, options, func(object C.polargo_codec, work C.polargo_work) C.polargo_result {
		return C.polargo_codec_decode(object, C.int64_t(codes.Rows), bytesOf(codes.Bytes),
			C.size_t(len(codes.Bytes)), C.polar_reconstruction(kind), work, floatsOf(rows))
	}, lengthCheck{"rows", len(rows), n})
}

// countDecoded is how many numbers the codes decode to, after a check of their bytes, so that no
// wrong number of rows makes memory be allocated.
func (c *Codec) countDecoded(codes Codes) (int, error) {
	bytes, err := c.EncodedBytes(codes.Rows)
	if err != nil {
		return 0, err
	}
	if err := checkLength("Codes.Bytes", len(codes.Bytes), bytes); err != nil {
		return 0, err
	}
	return product("Codes.Rows", c.dim, codes.Rows)
}

// Combine returns Σ_i weights[w,i]·x̂_i over all rows for each of nw vectors of weights, nw·Rows
// numbers: nw·dim numbers. x̂ is the reconstruction of least error.
func (c *Codec) Combine(ctx context.Context, codes Codes, weights []float32, options *WorkOptions) ([]float32, error) {
	if _, err := c.countDecoded(codes); err != nil {
		return nil, err
	}
	if codes.Rows == 0 {
		return nil, notAllowed("Codes.Rows", 0, "1 or more")
	}
	nw, err := countRows("weights", weights, codes.Rows)
	if err != nil {
		return nil, err
	}
	n, err := product("weights", c.dim, nw)
	if err != nil {
		return nil, err
	}
	out := make([]float32, n)
	err = c.work(ctx, options, func(object C.polargo_codec, work C.polargo_work) C.polargo_result {
		return C.polargo_codec_combine(object, C.int64_t(codes.Rows), bytesOf(codes.Bytes),
			C.size_t(len(codes.Bytes)), C.int64_t(nw), floatsOf(weights), work, floatsOf(out))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ScoreCodes returns the scores between every row of a and every row of b, from codes alone:
// a.Rows·b.Rows numbers. L2 scores can be below 0, most of all of a row to itself.
func (c *Codec) ScoreCodes(ctx context.Context, a, b Codes, options *WorkOptions) ([]float32, error) {
	for _, codes := range [...]Codes{a, b} {
		if _, err := c.countDecoded(codes); err != nil {
			return nil, err
		}
	}
	n, err := product("Codes.Rows", a.Rows, b.Rows)
	if err != nil {
		return nil, err
	}
	scores := make([]float32, n)
	err = c.work(ctx, options, func(object C.polargo_codec, work C.polargo_work) C.polargo_result {
		return C.polargo_codec_score_codes(object, C.int64_t(a.Rows), bytesOf(a.Bytes),
			C.size_t(len(a.Bytes)), C.int64_t(b.Rows), bytesOf(b.Bytes), C.size_t(len(b.Bytes)), work,
			floatsOf(scores))
	})
	if err != nil {
		return nil, err
	}
	return scores, nil
}

// lengthCheck is the length of a slice and what it is to be.
type lengthCheck struct {
	name           string
	length, wanted int
}

func (c lengthCheck) check(n, dim int) error { return checkLength(c.name, c.length, c.wanted) }

// work does a long call on the codec, after checks of all lengths.
func (c *Codec) work(ctx context.Context, options *WorkOptions,
	do func(object C.polargo_codec, work C.polargo_work) C.polargo_result, checks ...rowCheck) error {
	object, err := c.use()
	if err != nil {
		return err
	}
	defer c.leave()
	for _, given := range checks {
		if err := given.check(0, c.dim); err != nil {
			return err
		}
	}
	var work call
	asked, err := work.startWork(ctx, options)
	if err != nil {
		return err
	}
	return work.end(do(object, asked))
}
