// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"context"
	"unsafe"
)

// CodecInfo is what a codec is at one moment.
type CodecInfo struct {
	// Dim is how many numbers a vector has.
	Dim int
	// Metric is how scores are measured.
	Metric Metric
	// IsTrained is false only while Encode must wait for Train.
	IsTrained bool
	// StateOrigin tells where centre and unit are from: 0 as created, 2 trained; 1, in states of
	// earlier versions, from an index's first rows.
	StateOrigin int
	// GroupRows is how many rows share a code; 1 for all but "PolarPair…g128".
	GroupRows int
	// Seed is that of the rotation.
	Seed uint64
	// CodeBytes is the size of one code (of GroupRows rows), factors included.
	CodeBytes int
	// FactorBytes is the size of its factors; 0 for codecs without factors.
	FactorBytes int
	// TailRowBytes is the size of a row of the unfinished last group; 0 where GroupRows is 1.
	TailRowBytes int
	// BitsPerDim is 8·CodeBytes / (GroupRows·Dim).
	BitsPerDim float64
	// MSE is the error per dimension on the unit Gaussian; 0 where not defined.
	MSE float64
	// CentreNorm is the centre's length.
	CentreNorm float64
	// NormUnit is a power of two near the typical distance of a row from the centre.
	NormUnit float64
	// StateID is equal exactly for codecs whose codes mix.
	StateID uint64
}

// Info tells what the codec is.
func (c *Codec) Info() (CodecInfo, error) {
	object, err := c.use()
	if err != nil {
		return CodecInfo{}, err
	}
	defer c.leave()
	var info C.polar_codec_info
	info.struct_size = C.uint32_t(unsafe.Sizeof(info))
	if err := errorOf(C.polargo_codec_get_info(object, &info)); err != nil {
		return CodecInfo{}, err
	}
	return CodecInfo{
		Dim:          int(info.dim),
		Metric:       Metric(info.metric),
		IsTrained:    info.is_trained != 0,
		StateOrigin:  int(info.state_origin),
		GroupRows:    int(info.group_rows),
		Seed:         uint64(info.seed),
		CodeBytes:    int(info.code_bytes),
		FactorBytes:  int(info.factor_bytes),
		TailRowBytes: int(info.tail_row_bytes),
		BitsPerDim:   float64(info.bits_per_dim),
		MSE:          float64(info.mse),
		CentreNorm:   float64(info.centre_norm),
		NormUnit:     float64(info.norm_unit),
		StateID:      uint64(info.state_id),
	}, nil
}

// Centre returns the centre, dim numbers; zeros when there is none.
func (c *Codec) Centre() ([]float32, error) {
	object, err := c.use()
	if err != nil {
		return nil, err
	}
	defer c.leave()
	centre := make([]float32, c.dim)
	if err := errorOf(C.polargo_codec_get_centre(object, floatsOf(centre))); err != nil {
		return nil, err
	}
	return centre, nil
}

// MemoryBytes is how much memory the codec takes: rotation, tables, centre.
func (c *Codec) MemoryBytes() (int64, error) {
	object, err := c.use()
	if err != nil {
		return 0, err
	}
	defer c.leave()
	var bytes C.size_t
	err = errorOf(C.polargo_codec_memory_bytes(object, &bytes))
	return int64(bytes), err
}

// EncodedBytes is how many bytes the codes of n ≥ 0 rows take.
func (c *Codec) EncodedBytes(n int) (int, error) {
	object, err := c.use()
	if err != nil {
		return 0, err
	}
	defer c.leave()
	return encodedBytes(object, n)
}

func encodedBytes(object C.polargo_codec, n int) (int, error) {
	var bytes C.size_t
	if err := errorOf(C.polargo_codec_encoded_bytes(object, C.int64_t(n), &bytes)); err != nil {
		return 0, err
	}
	if int(bytes) < 0 {
		return 0, notAllowed("n", n, "a number of rows whose codes fit into memory")
	}
	return int(bytes), nil
}

// Plan is what a "…-pca" codec learned.
type Plan struct {
	// HasBasis is false where rotation and rates gained too little on rows that were held out, so
	// that codes are those of the untrained codec.
	HasBasis bool
	// Error is the mean ‖x̂−x‖²/‖x−c‖² of rows that were held out, x̂ unbiased.
	Error float64
	// UntrainedError is the same of the untrained codec.
	UntrainedError float64
	// Segments are in order, by falling variance.
	Segments []Segment
}

// Segment is a run of rotated coordinates that have one rate.
type Segment struct {
	// First is its first coordinate.
	First int
	// Dim is how many there are: 64, or fewer in the last segment.
	Dim int
	// Bits a dimension; 0 where nothing is stored.
	Bits float64
	// Scale is the standard deviation of its coordinates.
	Scale float64
}

// Plan tells what a "…-pca" codec learned; [ErrUnsupported] for others, [ErrNotTrained] before Train.
func (c *Codec) Plan() (*Plan, error) {
	object, err := c.use()
	if err != nil {
		return nil, err
	}
	defer c.leave()
	var plan C.polar_codec_plan
	plan.struct_size = C.uint32_t(unsafe.Sizeof(plan))
	if err := errorOf(C.polargo_codec_get_plan(object, &plan, nil, 0)); err != nil {
		return nil, err
	}
	segments := make([]C.polar_segment, int(plan.segments)+1)
	result := C.polargo_codec_get_plan(object, &plan, &segments[0], plan.segments)
	if err := errorOf(result); err != nil {
		return nil, err
	}
	learned := &Plan{
		HasBasis:       plan.has_basis != 0,
		Error:          float64(plan.error),
		UntrainedError: float64(plan.untrained_error),
	}
	for _, s := range segments[:int(plan.segments)] {
		learned.Segments = append(learned.Segments, Segment{
			First: int(s.first), Dim: int(s.dim), Bits: float64(s.bits), Scale: float64(s.scale),
		})
	}
	return learned, nil
}

// Drift tells how well a "…-pca" codec still fits: the error of n ≥ 1 rows, n·dim numbers, divided by
// the error of the rows that training held out. Near 1: as well as then; above 1.2 or so it is time
// to train a new codec. Errors as those of Plan.
func (c *Codec) Drift(ctx context.Context, rows []float32, options *WorkOptions) (float64, error) {
	var drift C.double
	err := c.work(ctx, options, func(object C.polargo_codec, work C.polargo_work) C.polargo_result {
		return C.polargo_codec_drift(object, C.int64_t(len(rows)/c.dim), floatsOf(rows), work, &drift)
	}, floatCheck{"rows", rows})
	return float64(drift), err
}
