// SPDX-License-Identifier: MIT

package polarquant

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestMethodsOfClosedObjects(t *testing.T) {
	const dim = 8
	rows := someRows(1, 10, dim)
	index := must(NewIndex("Polar4", dim, L2))(t)
	codec := must(NewCodec("Polar4", dim, L2, nil))(t)
	codes := must(codec.Encode(background, rows, nil))(t)
	query := must(codec.PrepareQuery(rows[:dim]))(t)
	blocks := must(NewBlocks(codec))(t)
	for i := 0; i < 2; i++ {
		check(t, index.Close())
		check(t, query.Close())
	}
	if _, err := codec.Score(background, query, codes, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	check(t, codec.Close())
	check(t, codec.Close())
	others := map[string]any{
		"index": index, "codec": codec, "query": query, "blocks": blocks,
		"zero builder": &Builder{}, "zero index": &Index{}, "zero codec": &Codec{}, "zero query": &Query{}, "zero blocks": &Blocks{},
		"zero filter": &PreparedFilter{}, "zero CUDA index": &CUDAIndex{},
		"zero CUDA encoder": &CUDAEncoder{}, "zero CUDA codec": &CUDACodec{},
	}
	for name, object := range others {
		callEveryMethod(t, name, object)
	}
	if index.Len() != 0 || index.NList() != 0 || index.NProbe() != 0 || index.IsTrained() {
		t.Error("a closed index tells rows")
	}
}

// callEveryMethod calls each exported method with arguments that are 0; those that return an error
// must return one.
func callEveryMethod(t *testing.T, name string, object any) {
	value := reflect.ValueOf(object)
	for i := 0; i < value.NumMethod(); i++ {
		method := value.Method(i)
		kind := method.Type()
		var arguments []reflect.Value
		for j := 0; j < kind.NumIn(); j++ {
			arguments = append(arguments, reflect.Zero(kind.In(j)))
		}
		results := method.Call(arguments)
		methodName := value.Type().Method(i).Name
		if kind.NumOut() == 0 || methodName == "Close" {
			continue
		}
		if last := kind.Out(kind.NumOut() - 1); last.Name() == "error" && results[kind.NumOut()-1].IsNil() {
			t.Errorf("%s.%s returns no error", name, methodName)
		}
	}
}

func TestWrongLengths(t *testing.T) {
	const dim = 8
	rows := someRows(1, 10, dim)
	index := makeIndex(t, "Polar4", dim, rows)
	codec := makeCodec(t, "Polar4", dim, L2)
	codes := must(codec.Encode(background, rows, nil))(t)
	query := must(codec.PrepareQuery(rows[:dim]))(t)
	defer query.Close()
	cut := Codes{codes.Bytes[1:], 10}
	ids, scores := make([]int64, 3), make([]float32, 3)
	errs := map[string]error{
		"rows":        index.Add(background, rows[1:], nil),
		"train":       index.Train(background, rows[1:], nil),
		"ids":         index.AddWithIDs(background, rows, ids, nil),
		"update":      index.Update(background, ids, rows, nil),
		"upsert":      index.Upsert(background, ids, rows, nil),
		"lists":       index.AddToLists(background, rows[:3*dim], ids, ids[:2], nil),
		"centroids":   index.TrainWithCentroids(background, rows[1:], rows, nil),
		"into ids":    index.SearchInto(background, rows[:dim], 3, nil, ids[:2], scores),
		"into scores": index.SearchInto(background, rows[:dim], 3, nil, ids, scores[:2]),
		"into row":    index.ReconstructInto(1, scores),
		"encode":      codec.EncodeInto(background, rows, codes.Bytes[1:], nil),
		"encode rows": codec.EncodeInto(background, rows[1:], codes.Bytes, nil),
		"codec train": codec.Train(background, rows[1:], nil),
		"decode":      codec.DecodeInto(background, codes, LeastError, rows[1:], nil),
		"decode cut":  codec.DecodeInto(background, cut, LeastError, rows, nil),
		"score into":  codec.ScoreInto(background, query, codes, scores, nil),
		"no query":    codec.ScoreInto(background, nil, codes, scores, nil),
		"no codec":    codec.CheckSameState(nil),
	}
	put := func(name string, _ any, err error) { errs[name] = err }
	_, _, err := index.Search(background, rows[1:], 1, nil)
	put("search", nil, err)
	_, _, err = codec.Search(background, rows[:dim], cut, 1, nil)
	put("codec search", nil, err)
	_, _, err = codec.Search(background, rows[:dim], Codes{codes.Bytes, -10}, 1, nil)
	put("negative rows", nil, err)
	_, _, err = codec.Search(background, rows[:dim], Codes{nil, 10}, 1, nil)
	put("no bytes", nil, err)
	call := func(name string, do func() (any, error)) { value, err := do(); put(name, value, err) }
	call("range", func() (any, error) { return index.RangeSearch(background, rows[1:], 1, nil) })
	call("codec range", func() (any, error) { return codec.RangeSearch(background, rows, cut, 1, nil) })
	call("score", func() (any, error) { return codec.Score(background, query, cut, nil) })
	call("score codes", func() (any, error) { return codec.ScoreCodes(background, codes, cut, nil) })
	call("combine", func() (any, error) { return codec.Combine(background, codes, make([]float32, 11), nil) })
	call("combine cut", func() (any, error) { return codec.Combine(background, cut, make([]float32, 10), nil) })
	call("query", func() (any, error) { return codec.PrepareQuery(rows[:dim+1]) })
	call("code", func() (any, error) { return codec.PrepareQueryFromCode(codes, 10) })
	call("code cut", func() (any, error) { return codec.PrepareQueryFromCode(cut, 1) })
	call("centre", func() (any, error) { return NewCodec("Polar4", dim, L2, &CodecOptions{Centre: rows[:3]}) })
	call("no codec of blocks", func() (any, error) { return NewBlocks(nil) })
	call("drift", func() (any, error) { return codec.Drift(background, rows[1:], nil) })
	for name, err := range errs {
		if !errors.Is(err, ErrBadArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNumbersOutsideWhatIsAllowed(t *testing.T) {
	const dim = 64
	rows := someRows(1, 10, dim)
	index := makeIndex(t, "Polar4", dim, rows)
	codec := makeCodec(t, "Polar4", dim, L2)
	search := func(k int, options SearchOptions) error {
		_, _, err := index.Search(background, rows[:dim], k, &options)
		return err
	}
	huge, nan := math.MaxInt, float32(math.NaN())
	broken := append([]float32(nil), rows...)
	broken[77] = nan
	newIndex := func(description string, dim int) error { _, err := NewIndex(description, dim, L2); return err }
	newCodec := func(spec string, dim int, options CodecOptions) error {
		_, err := NewCodec(spec, dim, L2, &options)
		return err
	}
	_, negative := codec.EncodedBytes(-1)
	_, large := codec.EncodedBytes(math.MaxInt)
	_, of32 := codec.Encode(background, rows, &WorkOptions{NumThreads: 1 << 33})
	_, explained := index.Explain(0, 1, nil)
	_, advised := Advise(background, rows, 0, L2, nil, nil)
	_, fewAdvised := Advise(background, rows, dim, L2, nil, nil)
	ids, scores := make([]int64, 1), make([]float32, 1)
	for name, err := range map[string]error{
		"k 0": search(0, SearchOptions{}), "k -1": search(-1, SearchOptions{}),
		"k huge": search(huge, SearchOptions{}), "k of 2^40": search(1<<40, SearchOptions{}),
		"k into":        index.SearchInto(background, rows, huge, nil, ids, scores),
		"k into -1":     index.SearchInto(background, rows, -1, nil, ids, scores),
		"threads":       search(1, SearchOptions{NumThreads: 1025}),
		"threads 2^32":  search(1, SearchOptions{NumThreads: 1 << 32}),
		"exactness":     search(1, SearchOptions{Exactness: -1}),
		"exactness NaN": search(1, SearchOptions{Exactness: nan}),
		"nprobe":        search(1, SearchOptions{NProbe: -1}),
		"a NaN":         index.Add(background, broken, nil),
		"dim 0":         newIndex("Polar4", 0), "dim -1": newIndex("Polar4", -1),
		"dim 2^32 + 8": newIndex("Polar4", 1<<32+8), "dim of a codec": newCodec("Polar4", 1<<32+8, CodecOptions{}),
		"unit":               newCodec("Polar4", dim, CodecOptions{NormUnit: -1}),
		"a zero in a spec":   newCodec("Polar4\x00", dim, CodecOptions{}),
		"no spec":            newCodec("", dim, CodecOptions{}),
		"a long description": newIndex(strings.Repeat("Polar", 1000), dim),
		"no UTF-8":           newIndex("\xff\xfe", dim),
		"encoded -1":         negative, "encoded huge": large, "threads 2^33": of32,
		"nq": explained, "advice dim": advised, "advice rows": fewAdvised,
	} {
		if !errors.Is(err, ErrBadArgument) && !(name == "nprobe" && errors.Is(err, ErrUnsupported)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if index.Len() != 10 {
		t.Fatal(index.Len())
	}
	if err := search(1<<20, SearchOptions{}); err != nil {
		t.Error(err)
	}
}

func TestErrorsAreThoseOfTheirOwnCalls(t *testing.T) {
	done := make(chan bool)
	for worker := 0; worker < 8; worker++ {
		go func(worker int) {
			defer func() { done <- true }()
			spec := strings.Repeat("X", worker+1)
			for i := 0; i < 500; i++ {
				_, err := NewCodec(spec, 8, L2, nil)
				var failed *Error
				if !errors.As(err, &failed) || !strings.Contains(failed.Text, `"`+spec+`"`) {
					t.Error(spec, err)
					return
				}
				runtime.Gosched()
			}
		}(worker)
	}
	for worker := 0; worker < 8; worker++ {
		<-done
	}
}
