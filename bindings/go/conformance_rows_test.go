// SPDX-License-Identifier: MIT

package polarquant

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// conformanceFolder has the vectors that every binding must answer. A module that was downloaded
// does not have it beside it.
func conformanceFolder(t *testing.T) string {
	t.Helper()
	folder := filepath.Join("..", "..", "tests", "conformance")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("there are no vectors beside this package")
	}
	return folder
}

// readCases are the cases of a file of the vectors.
func readCases(t *testing.T, name string) []vectorCase {
	t.Helper()
	data := must(os.ReadFile(filepath.Join(conformanceFolder(t), name)))(t)
	var file struct {
		Format int
		Cases  []vectorCase
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if file.Format != 1 || len(file.Cases) == 0 {
		t.Fatalf("format %d, %d cases", file.Format, len(file.Cases))
	}
	return file.Cases
}

// vectorCase is a case of any of the files.
type vectorCase struct {
	Name        string
	Spec        string
	Description string
	Dim         int
	Metric      int

	CodecOptions struct {
		Seed        uint64
		Centre      *madeRows
		NormUnit    float64 `json:"norm_unit"`
		LearnCentre *bool   `json:"learn_centre"`
	} `json:"codec_options"`
	State      string
	Train      *madeRows
	Encode     *madeRows
	Rows       *madeRows
	CodeBytes  int    `json:"code_bytes"`
	CodesHash  string `json:"codes_fnv1a"`
	FirstCode  string `json:"first_code"`
	StateHash  string `json:"state_fnv1a"`
	HasBlocks  bool   `json:"has_blocks"`
	Decoded    []number
	Steps      []step
	Ntotal     int
	File       string
	Bytes      int
	Hash       string `json:"fnv1a"`
	CanMap     bool   `json:"can_map"`
	Searches   []searchCase
	Ranges     []rangeCase `json:"range_searches"`
	Reconstuct *struct {
		ID int64
		X  []number
	} `json:"reconstruct"`

	Codec     *vectorCase
	Index     *vectorCase
	Call      string
	Arguments json.RawMessage
	Status    int
	Names     string
}

type step struct {
	Call      string
	Rows      *madeRows
	Centroids *madeRows
	IDs       []int64
	Filter    *filterCase
	Removed   *int
	Nprobe    int
}

type searchCase struct {
	Queries madeRows
	K       int
	Options optionsCase
	IDs     [][]int64
	Scores  [][]number
}

type rangeCase struct {
	Queries madeRows
	Radius  number
	Options optionsCase
	Lims    []int64
	IDs     []int64
	Scores  []number
}

type optionsCase struct {
	Exactness  *number
	NumThreads int `json:"num_threads"`
	Nprobe     int
	Filter     *filterCase
}

type filterCase struct {
	Kind        string
	Words       []string
	NumBits     int64 `json:"num_bits"`
	IDs         []int64
	First, End  int64
	MultiplesOf int64 `json:"multiples_of"`
}

func (f *filterCase) filter(t *testing.T) Filter {
	if f == nil {
		return nil
	}
	switch f.Kind {
	case "none":
		return nil
	case "bitset":
		bits := make(Bitset, len(f.Words))
		for i, word := range f.Words {
			bits[i] = must(strconv.ParseUint(word, 16, 64))(t)
		}
		if past := f.NumBits % 64; past != 0 {
			bits[len(bits)-1] &= 1<<past - 1
		}
		return bits
	case "ids":
		return IDSet(f.IDs)
	case "range":
		return IDRange{f.First, f.End}
	case "callback":
		return FilterFunc(func(id int64) bool { return id%f.MultiplesOf == 0 })
	}
	t.Fatalf("a filter of kind %q", f.Kind)
	return nil
}

func (o *optionsCase) options(t *testing.T) *SearchOptions {
	options := &SearchOptions{NumThreads: o.NumThreads, NProbe: o.Nprobe, Filter: o.Filter.filter(t)}
	if o.Exactness != nil {
		options.Exactness = float32(*o.Exactness)
	}
	return options
}

// number is a JSON number, or a text: hexadecimal ("0x1.8p+3"), "inf", "-inf" or "nan".
type number float64

func (n *number) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	value, err := strconv.ParseFloat(text, 64)
	*n = number(value)
	return err
}

// madeRows are rows that are made by integers alone.
type madeRows struct {
	Seed  uint64
	N     int
	Shift number
	Set   []number
}

func (m *madeRows) rows(dim int) []float32 {
	x := make([]float32, m.N*dim)
	state := m.Seed
	for i := range x {
		state += 0x9E3779B97F4A7C15
		z := state
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
		sum := int64(z&0xFFFF) + int64(z>>16&0xFFFF) + int64(z>>32&0xFFFF) + int64(z>>48)
		x[i] = float32(float64(sum-131070)/65536) + float32(m.Shift)
	}
	if m.Set != nil {
		x[int(m.Set[0])*dim+int(m.Set[1])] = float32(m.Set[2])
	}
	return x
}

func fnv1a(data []byte) string {
	hash := fnv.New64a()
	hash.Write(data)
	return fmt.Sprintf("%016x", hash.Sum64())
}

func decode64(t *testing.T, text string) []byte {
	return must(base64.StdEncoding.DecodeString(text))(t)
}

// checkNumbers compares floats within the bound that the vectors' README gives.
func checkNumbers(t *testing.T, wanted []number, found []float32) {
	t.Helper()
	if len(wanted) != len(found) {
		t.Fatalf("%d numbers, wanted %d", len(found), len(wanted))
	}
	for i, w := range wanted {
		f := float64(found[i])
		if f != float64(w) && !(math.Abs(f-float64(w)) <= 1e-6*(1+math.Abs(float64(w)))) {
			t.Fatalf("number %d is %v, wanted %v", i, f, float64(w))
		}
	}
}
