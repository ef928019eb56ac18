// SPDX-License-Identifier: MIT

package polarquant

import (
	"errors"
	"strings"
	"testing"
)

func TestAdviceRecommendsByRecallAndBytes(t *testing.T) {
	const dim = 32
	rows := someRows(1, 1200, dim)
	specs := []string{"Polar1", "Polar2", "Polar4"}
	told := 0
	options := &AdviceOptions{Specs: specs, WantedRecall: .8, Progress: func(float64) { told++ }}
	advice := must(Advise(background, rows, dim, InnerProduct, nil, options))(t)
	if len(advice.Rows) != 3 || !advice.HeldOutQueries || told == 0 {
		t.Fatalf("%+v", advice)
	}
	for i, row := range advice.Rows {
		if row.Spec != specs[i] || row.Problem != "" || row.Recall <= 0 || row.BytesPerVector <= 0 {
			t.Errorf("%+v", row)
		}
	}
	if advice.Recommended != &advice.Rows[2] || !advice.Recommended.IsRecommended {
		t.Fatalf("%+v", advice.Recommended)
	}
	text := advice.String()
	if !strings.Contains(text, "<- take this") || !strings.Contains(text, advice.Reason) || advice.Reason == "" {
		t.Fatal(text)
	}
	small := must(Advise(background, rows, dim, InnerProduct, someRows(2, 20, dim),
		&AdviceOptions{Specs: specs, AllowedBytes: 10}))(t)
	if small.Recommended.Spec != "Polar1" || small.HeldOutQueries || small.Queries != 20 {
		t.Fatalf("%+v", small)
	}
	none := must(Advise(background, rows, dim, InnerProduct, nil, &AdviceOptions{Specs: specs, AllowedBytes: 1}))(t)
	if none.Recommended != nil {
		t.Fatalf("%+v", none.Recommended)
	}
}

func TestAdviceNamesWhatIsWrong(t *testing.T) {
	const dim = 32
	rows := someRows(1, 1200, dim)
	for name, options := range map[string]*AdviceOptions{
		"Polar77":       {Specs: []string{"Polar1", "Polar77"}},
		"wanted_recall": {WantedRecall: 2},
		"max_rows":      {MaxRows: 1},
		"k: -1":         {K: -1},
		"byte 0":        {Specs: []string{"Polar1\x00Polar2"}},
	} {
		_, err := Advise(background, rows, dim, L2, nil, options)
		if !errors.Is(err, ErrBadArgument) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
