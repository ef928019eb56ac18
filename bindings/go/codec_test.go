// SPDX-License-Identifier: MIT

package polarquant

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func makeCodec(t testing.TB, spec string, dim int, metric Metric) *Codec {
	t.Helper()
	codec := must(NewCodec(spec, dim, metric, nil))(t)
	t.Cleanup(func() { codec.Close() })
	return codec
}

func TestCodecTellsWhatItIs(t *testing.T) {
	centre := []float32{1, 2, 3, 4}
	codec := must(NewCodec("Polar4", 4, Cosine, &CodecOptions{Seed: 7, Centre: centre, KeepCentre: true, NormUnit: 2}))(t)
	defer codec.Close()
	info := must(codec.Info())(t)
	if codec.Spec() != "Polar4" || codec.Dim() != 4 || codec.Metric() != Cosine {
		t.Fatal(codec.Spec(), codec.Dim(), codec.Metric())
	}
	if info.Dim != 4 || info.Seed != 7 || info.NormUnit != 2 || !info.IsTrained || info.GroupRows != 1 || info.CodeBytes <= 2 {
		t.Fatalf("%+v", info)
	}
	if found := must(codec.Centre())(t); !reflect.DeepEqual(found, centre) {
		t.Fatal(found)
	}
	if bytes := must(codec.MemoryBytes())(t); bytes <= 0 {
		t.Fatal(bytes)
	}
	if bytes := must(codec.EncodedBytes(10))(t); bytes != 10*info.CodeBytes {
		t.Fatal(bytes)
	}
}

func TestScoresAndSums(t *testing.T) {
	const dim = 64
	rows := someRows(1, 50, dim)
	codec := makeCodec(t, "Polar8", dim, InnerProduct)
	check(t, codec.Train(background, rows, nil))
	codes := must(codec.Encode(background, rows, &WorkOptions{NumThreads: 2}))(t)
	query := must(codec.PrepareQuery(rows[:dim]))(t)
	defer query.Close()
	scores := must(codec.Score(background, query, codes, nil))(t)
	sum := 0.0
	for _, v := range rows[:dim] {
		sum += float64(v) * float64(v)
	}
	if len(scores) != 50 || math.Abs(float64(scores[0])-sum) > .02*sum {
		t.Fatal(scores[0], sum)
	}
	same := must(codec.PrepareQueryFromCode(codes, 0))(t)
	defer same.Close()
	if other := must(codec.Score(background, same, codes, nil))(t); math.Abs(float64(other[0])-sum) > .02*sum {
		t.Fatal(other[0], sum)
	}
	between := must(codec.ScoreCodes(background, codes, Codes{codes.Bytes[:2*len(codes.Bytes)/50], 2}, nil))(t)
	if len(between) != 100 || math.Abs(float64(between[0])-sum) > .02*sum {
		t.Fatal(len(between), between[0], sum)
	}
	weights := make([]float32, 2*50)
	weights[3], weights[50+4] = 1, 2
	combined := must(codec.Combine(background, codes, weights, nil))(t)
	decoded := must(codec.Decode(background, codes, LeastError, nil))(t)
	for j := 0; j < dim; j++ {
		first, second := combined[j]-decoded[3*dim+j], combined[dim+j]-2*decoded[4*dim+j]
		if math.Abs(float64(first)) > 1e-5 || math.Abs(float64(second)) > 1e-5 {
			t.Fatal(j, first, second)
		}
	}
	unbiased := must(codec.Decode(background, codes, Unbiased, nil))(t)
	if reflect.DeepEqual(unbiased, decoded) {
		t.Fatal("both reconstructions are the same")
	}
}

func TestStatesSaveLoadAndCompare(t *testing.T) {
	const dim = 32
	rows := someRows(1, 50, dim)
	codec := makeCodec(t, "Polar4", dim, L2)
	check(t, codec.Train(background, rows, nil))
	loaded := must(LoadCodec(must(codec.SaveState())(t)))(t)
	defer loaded.Close()
	check(t, codec.CheckSameState(loaded))
	check(t, codec.CheckSameState(codec))
	first := must(codec.Encode(background, rows, nil))(t)
	second := must(loaded.Encode(background, rows, nil))(t)
	if !reflect.DeepEqual(first, second) {
		t.Fatal("other codes")
	}
	other := makeCodec(t, "Polar4", dim, L2)
	if err := codec.CheckSameState(other); !errors.Is(err, ErrStateMismatch) {
		t.Fatal(err)
	}
	query := must(other.PrepareQuery(rows[:dim]))(t)
	defer query.Close()
	if _, err := codec.Score(background, query, first, nil); !errors.Is(err, ErrStateMismatch) {
		t.Fatal(err)
	}
	if err := codec.Train(background, rows, nil); !errors.Is(err, ErrStateMismatch) {
		t.Fatal(err)
	}
}

func TestTrainedRotationHasPlanAndDrift(t *testing.T) {
	const dim = 128
	rows := someRows(1, 1000, dim)
	for i := range rows {
		rows[i] *= float32(math.Exp2(-float64(i%dim) / 16))
	}
	codec := makeCodec(t, "Polar2-pca", dim, InnerProduct)
	if _, err := codec.Plan(); !errors.Is(err, ErrNotTrained) {
		t.Fatal(err)
	}
	check(t, codec.Train(background, rows, nil))
	plan := must(codec.Plan())(t)
	if !plan.HasBasis || len(plan.Segments) == 0 || plan.Error >= plan.UntrainedError || plan.Segments[0].Dim != 64 {
		t.Fatalf("%+v", plan)
	}
	if drift := must(codec.Drift(background, rows, nil))(t); drift < .5 || drift > 1.5 {
		t.Fatal(drift)
	}
	if _, err := makeCodec(t, "Polar2", dim, L2).Plan(); !errors.Is(err, ErrUnsupported) {
		t.Fatal(err)
	}
}

func TestBlocksKeepCodes(t *testing.T) {
	const dim = 40
	rows := someRows(1, 200, dim)
	codec := makeCodec(t, "Polar2", dim, L2)
	codes := must(codec.Encode(background, rows, nil))(t)
	size := len(codes.Bytes) / 200
	blocks := must(NewBlocks(codec))(t)
	for first := 0; first < 200; first += 25 {
		check(t, blocks.Append(Codes{codes.Bytes[first*size : (first+25)*size], 25}))
	}
	if blocks.Len() != 200 || blocks.Codec() != codec || blocks.MemoryBytes() < int64(len(codes.Bytes)) {
		t.Fatal(blocks.Len())
	}
	if found := must(blocks.Get(0, 200))(t); !reflect.DeepEqual(found, codes) {
		t.Fatal("other codes")
	}
	check(t, blocks.Overwrite(3, codes.Bytes[150*size:151*size]))
	check(t, blocks.SwapRemove(0))
	removed := make(Bitset, 1)
	removed.Set(1)
	check(t, blocks.Remove(removed))
	if blocks.Len() != 198 {
		t.Fatal(blocks.Len())
	}
	ids, _, err := blocks.Search(background, rows[150*dim:151*dim], 2, nil)
	check(t, err)
	if !reflect.DeepEqual(ids, []int64{2, 149}) {
		t.Fatal(ids)
	}
	for _, err := range []error{
		blocks.SwapRemove(198), blocks.Overwrite(-1, codes.Bytes[:size]), blocks.Remove(make(Bitset, 5)),
		blocks.Append(Codes{codes.Bytes, 201}), blocks.Append(Codes{nil, -1}), blocks.Append(Codes{nil, 1 << 60}),
	} {
		if !errors.Is(err, ErrBadArgument) {
			t.Error(err)
		}
	}
	if _, err := blocks.Get(190, 20); !errors.Is(err, ErrBadArgument) {
		t.Error(err)
	}
}

func TestTexts(t *testing.T) {
	if Version() != "0.1.0" || VersionNumber() != 100 || !strings.Contains(SpecHelp(), "Polar4") {
		t.Fatal(Version(), VersionNumber(), SpecHelp())
	}
	if InnerProduct.String() != "inner product" || Metric(9).String() != "Metric(9)" {
		t.Fatal(InnerProduct, Metric(9))
	}
	if ErrNotTrained.Error() != "polarquant: not trained" {
		t.Fatal(ErrNotTrained)
	}
}
