// SPDX-License-Identifier: MIT

package polarquant

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"unsafe"
)

func TestWithoutDevicesWhatIsMissingIsSaid(t *testing.T) {
	if _, err := CUDADevices(); err == nil {
		t.Skip("there is a device")
	}
	rows := someRows(1, 10, 96)
	codec := makeCodec(t, "Polar2", 96, L2)
	codes := must(codec.Encode(background, rows, nil))(t)
	index := makeIndex(t, "Polar2", 96, rows)
	errs := map[string]error{}
	_, errs["devices"] = CUDADevices()
	_, errs["index"] = NewCUDAIndex(index, nil)
	_, errs["codes"] = NewCUDAIndexFromCodes(codec, codes, &CUDAOptions{Devices: []int{0, 0}, Layout: Replicated})
	_, errs["encoder"] = NewCUDAEncoder(codec, nil)
	_, errs["codec"] = NewCUDACodec(codec, &CUDAOptions{})
	for name, err := range errs {
		if !errors.Is(err, ErrUnsupported) || len(err.Error()) < 30 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWrongCUDAArguments(t *testing.T) {
	rows := someRows(1, 10, 96)
	codec := makeCodec(t, "Polar2", 96, L2)
	codes := must(codec.Encode(background, rows, nil))(t)
	for name, options := range map[string]*CUDAOptions{
		"device":  {Device: math.MaxInt},
		"devices": {Devices: make([]int, 65)},
		"layout":  {Layout: 5},
		"threads": {NumThreads: -1},
	} {
		if _, err := NewCUDAIndexFromCodes(codec, codes, options); !errors.Is(err, ErrBadArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, do := range []func() error{
		func() error { _, err := NewCUDAIndex(nil, nil); return err },
		func() error { _, err := NewCUDAIndexFromCodes(nil, codes, nil); return err },
		func() error { _, err := NewCUDAEncoder(nil, nil); return err },
		func() error { _, err := NewCUDACodec(nil, nil); return err },
	} {
		if err := do(); !errors.Is(err, ErrBadArgument) {
			t.Error(err)
		}
	}
}

func needDevice(t *testing.T) {
	t.Helper()
	devices, err := CUDADevices()
	if err != nil {
		t.Skip(err)
	}
	if len(devices) == 0 || devices[0].Name == "" || devices[0].TotalBytes == 0 {
		t.Fatalf("%+v", devices)
	}
}

func TestCUDAIndexFindsTheRowsOfTheCPU(t *testing.T) {
	needDevice(t)
	const dim = 64
	rows, queries := someRows(1, 5000, dim), someRows(2, 20, dim)
	index := makeIndex(t, "Polar2", dim, rows)
	for _, options := range []*CUDAOptions{nil, {Devices: []int{0, 0}}, {Devices: []int{0, 0}, Layout: Replicated}} {
		copied := must(NewCUDAIndex(index, options))(t)
		if copied.Len() != 5000 || copied.Dim() != dim || must(copied.MemoryBytes())(t) <= 0 {
			t.Fatal(copied.Len(), copied.Dim())
		}
		for _, search := range []*SearchOptions{nil, {Filter: IDRange{100, 900}}, everyRow(nil)} {
			ids, scores, err := copied.Search(queries, 5, search, 0)
			check(t, err)
			wantedIDs, wantedScores, err := index.Search(background, queries, 5, search)
			check(t, err)
			if !reflect.DeepEqual(ids, wantedIDs) || !reflect.DeepEqual(scores, wantedScores) {
				t.Fatal(ids, wantedIDs)
			}
		}
		together(4, func(int) {
			if _, _, err := copied.Search(queries, 5, nil, 0); err != nil {
				t.Error(err)
			}
		})
		check(t, copied.Close())
		if _, _, err := copied.Search(queries, 5, nil, 0); !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
	}
}

func TestCUDAEncoderAndCodec(t *testing.T) {
	needDevice(t)
	const dim = 128
	rows := someRows(1, 500, dim)
	codec := makeCodec(t, "Polar4", dim, InnerProduct)
	codes := must(codec.Encode(background, rows, nil))(t)
	encoder := must(NewCUDAEncoder(codec, nil))(t)
	defer encoder.Close()
	if found := must(encoder.Encode(rows, 0))(t); !reflect.DeepEqual(found, codes) {
		t.Fatal("other codes")
	}
	into := make([]byte, len(codes.Bytes))
	check(t, encoder.EncodeMemory(500, CUDAMemory(unsafe.Pointer(&rows[0])), CUDAMemory(unsafe.Pointer(&into[0])), 0))
	if !reflect.DeepEqual(into, codes.Bytes) {
		t.Fatal("other codes")
	}
	copied := must(NewCUDACodec(codec, nil))(t)
	defer copied.Close()
	heads := Codes{codes.Bytes, 250}
	scores := must(copied.Score(2, rows[:4*dim], heads, 0))(t)
	query := must(codec.PrepareQuery(rows[2*dim : 3*dim]))(t)
	defer query.Close()
	second := Codes{codes.Bytes[len(codes.Bytes)/2:], 250}
	wanted := must(codec.Score(background, query, second, nil))(t)
	for i, w := range wanted {
		if math.Abs(float64(scores[2*250+i]-w)) > 1e-3*(1+math.Abs(float64(w))) {
			t.Fatal(i, scores[2*250+i], w)
		}
	}
	weights := make([]float32, 2*250)
	weights[3], weights[250+5] = 1, 2
	sums := must(copied.Combine(2, weights, heads, 0))(t)
	wanted = must(codec.Combine(background, second, weights[250:], nil))(t)
	for j, w := range wanted {
		if math.Abs(float64(sums[dim+j]-w)) > 1e-4*(1+math.Abs(float64(w))) {
			t.Fatal(j, sums[dim+j], w)
		}
	}
	if _, err := copied.Score(0, rows, heads, 0); !errors.Is(err, ErrBadArgument) {
		t.Fatal(err)
	}
	if _, err := copied.Combine(3, weights, heads, 0); !errors.Is(err, ErrBadArgument) {
		t.Fatal(err)
	}
}
