// SPDX-License-Identifier: MIT

package polarquant

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestMadeRowsAreThoseOfTheReadme(t *testing.T) {
	wanted := []float32{-0.3565216064453125, 0.6191864013671875, 0.9221649169921875}
	if found := (&madeRows{Seed: 1, N: 1}).rows(3); !reflect.DeepEqual(found, wanted) {
		t.Fatal(found)
	}
}

func (c *vectorCase) makeCodec(t *testing.T) (*Codec, error) {
	if c.State != "" {
		return LoadCodec(decode64(t, c.State))
	}
	options := &CodecOptions{Seed: c.CodecOptions.Seed, NormUnit: c.CodecOptions.NormUnit}
	if learn := c.CodecOptions.LearnCentre; learn != nil {
		options.KeepCentre = !*learn
	}
	if centre := c.CodecOptions.Centre; centre != nil {
		options.Centre = centre.rows(c.Dim)
	}
	codec, err := NewCodec(c.Spec, c.Dim, Metric(c.Metric), options)
	if err == nil && c.Train != nil {
		err = codec.Train(background, c.Train.rows(c.Dim), nil)
	}
	return codec, err
}

func (c *vectorCase) makeIndex(t *testing.T) (*Index, error) {
	index, err := NewIndex(c.Description, c.Dim, Metric(c.Metric))
	if err != nil {
		return nil, err
	}
	for i := range c.Steps {
		if err := c.Steps[i].do(t, index); err != nil {
			return nil, err
		}
	}
	return index, nil
}

func (s *step) do(t *testing.T, index *Index) error {
	var rows []float32
	if s.Rows != nil {
		rows = s.Rows.rows(index.Dim())
	}
	removed, err := 0, error(nil)
	switch s.Call {
	case "train":
		return index.Train(background, rows, nil)
	case "train_with_centroids":
		return index.TrainWithCentroids(background, s.Centroids.rows(index.Dim()), rows, nil)
	case "add":
		return index.Add(background, rows, nil)
	case "add_with_ids":
		return index.AddWithIDs(background, rows, s.IDs, nil)
	case "update":
		return index.Update(background, s.IDs, rows, nil)
	case "set_nprobe":
		return index.SetNProbe(s.Nprobe)
	case "remove":
		removed, err = index.Remove(s.IDs)
	case "remove_filtered":
		removed, err = index.RemoveFiltered(s.Filter.filter(t))
	default:
		t.Fatalf("a step %q", s.Call)
	}
	if err == nil && s.Removed != nil && removed != *s.Removed {
		t.Errorf("%s: %d rows went, wanted %d", s.Call, removed, *s.Removed)
	}
	return err
}

type searcher func(queries []float32, k int, options *SearchOptions) ([]int64, []float32, error)
type rangeSearcher func(queries []float32, radius float32, options *SearchOptions) (*RangeResult, error)

func (c *vectorCase) checkSearches(t *testing.T, dim int, search searcher, within rangeSearcher) {
	t.Helper()
	for _, wanted := range c.Searches {
		ids, scores := func() ([]int64, []float32) {
			ids, scores, err := search(wanted.Queries.rows(dim), wanted.K, wanted.Options.options(t))
			check(t, err)
			return ids, scores
		}()
		for q := range wanted.IDs {
			if found := ids[q*wanted.K : (q+1)*wanted.K]; !reflect.DeepEqual(found, wanted.IDs[q]) {
				t.Fatalf("query %d finds %v, wanted %v", q, found, wanted.IDs[q])
			}
			checkNumbers(t, wanted.Scores[q], scores[q*wanted.K:(q+1)*wanted.K])
		}
	}
	for _, wanted := range c.Ranges {
		found := must(within(wanted.Queries.rows(dim), float32(wanted.Radius), wanted.Options.options(t)))(t)
		if !reflect.DeepEqual(found.Lims, wanted.Lims) || !reflect.DeepEqual(found.IDs, wanted.IDs) {
			t.Fatalf("within the radius are %v %v, wanted %v %v", found.Lims, found.IDs, wanted.Lims, wanted.IDs)
		}
		checkNumbers(t, wanted.Scores, found.Scores)
	}
}

func TestConformanceOfCodecs(t *testing.T) {
	for _, c := range readCases(t, "codecs.json") {
		c := c
		t.Run(c.Name, func(t *testing.T) { c.checkCodec(t) })
	}
}

func (c *vectorCase) checkCodec(t *testing.T) {
	codec := must(c.makeCodec(t))(t)
	defer codec.Close()
	codes := must(codec.Encode(background, c.Rows.rows(c.Dim), nil))(t)
	info := must(codec.Info())(t)
	if info.CodeBytes != c.CodeBytes || fnv1a(codes.Bytes) != c.CodesHash {
		t.Fatalf("codes of %d bytes, hash %s", info.CodeBytes, fnv1a(codes.Bytes))
	}
	if c.FirstCode != "" && hex.EncodeToString(codes.Bytes[:c.CodeBytes]) != c.FirstCode {
		t.Fatal("another first code")
	}
	if c.StateHash != "" {
		if state := must(codec.SaveState())(t); fnv1a(state) != c.StateHash {
			t.Fatal("another state")
		}
	}
	decoded := must(codec.Decode(background, codes, LeastError, nil))(t)
	checkNumbers(t, c.Decoded, decoded[:c.Dim])
	c.checkSearches(t, c.Dim,
		func(queries []float32, k int, options *SearchOptions) ([]int64, []float32, error) {
			return codec.Search(background, queries, codes, k, options)
		},
		func(queries []float32, radius float32, options *SearchOptions) (*RangeResult, error) {
			return codec.RangeSearch(background, queries, codes, radius, options)
		})
	blocks, err := NewBlocks(codec)
	if !c.HasBlocks {
		if !errors.Is(err, ErrUnsupported) {
			t.Fatalf("blocks of such codes: %v", err)
		}
		return
	}
	check(t, err)
	check(t, blocks.Append(codes))
	c.checkSearches(t, c.Dim,
		func(queries []float32, k int, options *SearchOptions) ([]int64, []float32, error) {
			return blocks.Search(background, queries, k, options)
		},
		func(queries []float32, radius float32, options *SearchOptions) (*RangeResult, error) {
			return blocks.RangeSearch(background, queries, radius, options)
		})
}

func (c *vectorCase) checkIndex(t *testing.T, index *Index) {
	if index.Len() != c.Ntotal {
		t.Fatalf("%d rows, wanted %d", index.Len(), c.Ntotal)
	}
	c.checkSearches(t, index.Dim(),
		func(queries []float32, k int, options *SearchOptions) ([]int64, []float32, error) {
			return index.Search(background, queries, k, options)
		},
		func(queries []float32, radius float32, options *SearchOptions) (*RangeResult, error) {
			return index.RangeSearch(background, queries, radius, options)
		})
	if c.Reconstuct != nil {
		checkNumbers(t, c.Reconstuct.X, must(index.Reconstruct(c.Reconstuct.ID))(t))
	}
}

func TestConformanceOfIndexes(t *testing.T) {
	for _, c := range readCases(t, "indexes.json") {
		c := c
		t.Run(c.Name, func(t *testing.T) {
			index := must(c.makeIndex(t))(t)
			defer index.Close()
			c.checkIndex(t, index)
		})
	}
}

func TestConformanceOfFiles(t *testing.T) {
	for _, c := range readCases(t, "files.json") {
		path := filepath.Join(conformanceFolder(t), c.File)
		data := must(os.ReadFile(path))(t)
		if len(data) != c.Bytes || fnv1a(data) != c.Hash {
			t.Fatalf("%s is another file", c.File)
		}
		ways := []LoadOptions{{}}
		if c.CanMap {
			ways = append(ways, LoadOptions{MemoryMap: true})
		}
		for _, way := range ways {
			c, way := c, way
			t.Run(c.Name, func(t *testing.T) {
				index := must(Load(path, &way))(t)
				defer index.Close()
				if index.Description() != c.Description || index.Dim() != c.Dim || index.Metric() != Metric(c.Metric) {
					t.Fatal(index.Description(), index.Dim(), index.Metric())
				}
				c.checkIndex(t, index)
				check(t, index.Verify())
			})
		}
	}
}

func TestConformanceOfErrors(t *testing.T) {
	for _, c := range readCases(t, "errors.json") {
		c := c
		t.Run(c.Name, func(t *testing.T) {
			err := c.wrongCall(t)
			if !errors.Is(err, Status(c.Status)) {
				t.Fatalf("%v, wanted %v", err, Status(c.Status))
			}
			if !strings.Contains(err.Error(), c.Names) {
				t.Fatalf("%v does not name %q", err, c.Names)
			}
		})
	}
}

// wrongCall does what is to fail, after what is made before it.
func (c *vectorCase) wrongCall(t *testing.T) error {
	var given struct {
		vectorCase
		IDs     []int64
		ID      int64
		K       int
		Nprobe  int
		Radius  number
		Options optionsCase
	}
	check(t, json.Unmarshal(c.Arguments, &given))
	switch {
	case c.Codec != nil:
		codec := must(c.Codec.makeCodec(t))(t)
		if c.Codec.Encode != nil {
			must(codec.Encode(background, c.Codec.Encode.rows(codec.Dim()), nil))(t)
		}
		x := given.Rows.rows(codec.Dim())
		if c.Call == "codec_train" {
			return codec.Train(background, x, nil)
		}
		codes, err := codec.Encode(background, x, nil)
		if c.Call == "codec_encode" {
			return err
		}
		check(t, err)
		query := x[:codec.Dim()]
		switch c.Call {
		case "codec_search":
			_, _, err = codec.Search(background, query, codes, given.K, given.Options.options(t))
		case "codec_range_search":
			_, err = codec.RangeSearch(background, query, codes, float32(given.Radius), given.Options.options(t))
		case "blocks_append":
			_, err = NewBlocks(codec)
		}
		return err
	case c.Index != nil:
		index := must(c.Index.makeIndex(t))(t)
		query := make([]float32, index.Dim())
		var err error
		switch c.Call {
		case "index_search":
			_, _, err = index.Search(background, query, given.K, given.Options.options(t))
		case "index_range_search":
			_, err = index.RangeSearch(background, query, float32(given.Radius), given.Options.options(t))
		case "index_reconstruct":
			_, err = index.Reconstruct(given.ID)
		default:
			s := step{Call: strings.TrimPrefix(c.Call, "index_"), Rows: given.Rows, IDs: given.IDs, Nprobe: given.Nprobe}
			err = s.do(t, index)
		}
		return err
	}
	var err error
	switch c.Call {
	case "codec_create", "codec_load_state":
		_, err = given.makeCodec(t)
	case "index_create":
		_, err = given.makeIndex(t)
	case "index_load":
		_, err = Load(filepath.Join(conformanceFolder(t), given.File), nil)
	default:
		t.Fatalf("a call %q", c.Call)
	}
	return err
}
