// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"context"
	"fmt"
	"strings"
	"unsafe"
)

// AdviceOptions say what [Advise] measures. nil, and each field that is 0, is the default.
type AdviceOptions struct {
	// K is how many neighbours are searched for; 1 to MaxRows/10, default 10.
	K int
	// WantedRecall, 0 to 1, asks for the code of the fewest bytes that surely reaches it.
	WantedRecall float64
	// AllowedBytes, a vector, asks for the code of the highest recall within them. With WantedRecall
	// too, that one's code if it fits; with neither, the best value.
	AllowedBytes float64
	// MaxRows is how many rows are searched at most; 10 to 2^40, default 20,000.
	MaxRows int
	// MaxQueries is how many queries are searched for at most; 10 to 2^40, default 1,000.
	MaxQueries int
	// TotalRows is how many rows there will be, to 2^40; default: the sample is all.
	TotalRows int
	// Specs are the codes to measure; nil: those that a user would choose among.
	Specs []string
	// Seed draws the parts of the sample, and rotations; 0: the default, 1.
	Seed uint64
	// NumThreads is 0 to 1024; 0 is OpenMP's default.
	NumThreads int
	// Progress, unless nil, is told now and then what share is done, 0 to 1, from any thread.
	Progress func(done float64)
}

// Advice is what [Advise] found.
type Advice struct {
	// Rows are the codes measured, by rising bytes for the default ones.
	Rows []AdviceRow
	// Recommended is the code to take, of Rows; nil when no code is what was asked for.
	Recommended *AdviceRow
	// Reason says why, in a sentence or two.
	Reason string
	// HeldOutQueries tells whether the queries are rows of the sample.
	HeldOutQueries bool
	// Queries, BaseRows and TrainRows are how many vectors were searched for, searched, and trained
	// on.
	Queries, BaseRows, TrainRows int
}

// AdviceRow is one code on the sample.
type AdviceRow struct {
	// Spec is its name, for NewCodec and NewIndex.
	Spec string
	// Problem is why it was not measured, and then the numbers are 0; else "".
	Problem string
	// NeedsTraining tells whether Train must come before Encode.
	NeedsTraining bool
	// BytesPerVector, factors included.
	BytesPerVector float64
	// Recall at K, 0 to 1, over the rows searched.
	Recall float64
	// RecallMargin is half of its 95 % interval.
	RecallMargin float64
	// QuarterRecall is recall when only a quarter of the rows is searched.
	QuarterRecall float64
	// ExpectedRecall is recall over TotalRows.
	ExpectedRecall float64
	// Error is the mean ‖x̂−x‖²/‖x−c‖² of rows not trained on, x̂ unbiased.
	Error float64
	// Gain is recall less that of the untrained code; 0 unless "-pca".
	Gain float64
	// GainMargin is half of the 95 % interval of the gain.
	GainMargin float64
	// CodecBytes is the memory of rotation and tables, once for all vectors.
	CodecBytes int64
	// Pays is false for a "-pca" code that gains no more than noise.
	Pays bool
	// IsRecommended tells whether this is the code to take.
	IsRecommended bool
}

// Advise measures codes on n rows, n·dim numbers, drawn from what is to be stored, and recommends
// one. queries, nq·dim numbers of 10 queries or more, are given where they are of another kind than
// the rows; with none, a tenth of the rows is held out. About 22·K rows are needed.
//
// It takes a minute for 384 dimensions on two cores by the defaults. The training of one code is not
// interrupted. [ErrBadArgument] for too few rows, numbers that are not finite, wrong specs.
func Advise(ctx context.Context, rows []float32, dim int, metric Metric, queries []float32, options *AdviceOptions) (*Advice, error) {
	if options == nil {
		options = &AdviceOptions{}
	}
	numbers, err := asInt32("dim", dim)
	if err != nil {
		return nil, err
	}
	if dim < 1 {
		return nil, notAllowed("dim", dim, "1 to 65535")
	}
	n, err := countRows("rows", rows, dim)
	if err != nil {
		return nil, err
	}
	nq, err := countRows("queries", queries, dim)
	if err != nil {
		return nil, err
	}
	threads, err := asInt32("NumThreads", options.NumThreads)
	if err != nil {
		return nil, err
	}
	given := C.polargo_advice_options{
		num_threads:   threads,
		seed:          C.uint64_t(options.Seed),
		k:             C.int64_t(options.K),
		wanted_recall: C.double(options.WantedRecall),
		allowed_bytes: C.double(options.AllowedBytes),
		max_rows:      C.int64_t(options.MaxRows),
		max_queries:   C.int64_t(options.MaxQueries),
		total_rows:    C.int64_t(options.TotalRows),
		num_specs:     C.int64_t(len(options.Specs)),
	}
	if given.specs, err = closedTexts("Specs", options.Specs); err != nil {
		return nil, err
	}
	var work call
	if err := work.start(ctx, options.Progress, nil); err != nil {
		return nil, err
	}
	given.watch = work.watch()
	var out C.polargo_advice
	// Also after a panic of Progress.
	defer func() { C.polargo_advice_destroy(out) }()
	result := C.polargo_advice_create(numbers, C.polar_metric(metric), C.int64_t(n), floatsOf(rows),
		C.int64_t(nq), floatsOf(queries), given, &out)
	if err := work.end(result); err != nil {
		return nil, err
	}
	return readAdvice(out)
}

func readAdvice(object C.polargo_advice) (*Advice, error) {
	var info C.polar_advice_info
	info.struct_size = C.uint32_t(unsafe.Sizeof(info))
	if err := errorOf(C.polargo_advice_get_info(object, &info)); err != nil {
		return nil, err
	}
	advice := &Advice{
		Rows:           make([]AdviceRow, int(info.rows)),
		Reason:         C.GoString(info.reason),
		HeldOutQueries: info.held_out_queries != 0,
		Queries:        int(info.queries),
		BaseRows:       int(info.base_rows),
		TrainRows:      int(info.train_rows),
	}
	for i := range advice.Rows {
		var row C.polar_advice_row
		row.struct_size = C.uint32_t(unsafe.Sizeof(row))
		if err := errorOf(C.polargo_advice_get_row(object, C.int64_t(i), &row)); err != nil {
			return nil, err
		}
		advice.Rows[i] = AdviceRow{
			Spec:           C.GoString(row.spec),
			Problem:        C.GoString(row.problem),
			NeedsTraining:  row.needs_training != 0,
			BytesPerVector: float64(row.bytes_per_vector),
			Recall:         float64(row.recall),
			RecallMargin:   float64(row.recall_margin),
			QuarterRecall:  float64(row.quarter_recall),
			ExpectedRecall: float64(row.expected_recall),
			Error:          float64(row.error),
			Gain:           float64(row.gain),
			GainMargin:     float64(row.gain_margin),
			CodecBytes:     int64(row.codec_bytes),
			Pays:           row.pays != 0,
			IsRecommended:  row.is_recommended != 0,
		}
	}
	if info.recommended >= 0 {
		advice.Recommended = &advice.Rows[info.recommended]
	}
	return advice, nil
}

// String is a table of the codes, and the reason.
func (a *Advice) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%-14s %7s %7s %7s %9s\n", "code", "bytes", "recall", "margin", "expected")
	for _, row := range a.Rows {
		if row.Problem != "" {
			fmt.Fprintf(&text, "%-14s %s\n", row.Spec, row.Problem)
			continue
		}
		mark := ""
		if row.IsRecommended {
			mark = "  <- take this"
		}
		fmt.Fprintf(&text, "%-14s %7.1f %7.3f %7.3f %9.3f%s\n", row.Spec, row.BytesPerVector, row.Recall,
			row.RecallMargin, row.ExpectedRecall, mark)
	}
	return text.String() + a.Reason
}
