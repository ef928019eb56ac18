// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import "fmt"

// Metric is how nearness is measured.
type Metric int32

const (
	// InnerProduct has score ⟨q,x⟩; larger is nearer.
	InnerProduct Metric = C.POLAR_METRIC_INNER_PRODUCT
	// L2 has score ‖q−x‖², squared; smaller is nearer.
	L2 Metric = C.POLAR_METRIC_L2
	// Cosine has the cosine as score, larger is nearer; rows and queries are normalized on the way in.
	Cosine Metric = C.POLAR_METRIC_COSINE
)

// String is "inner product", "L2" or "cosine".
func (m Metric) String() string {
	switch m {
	case InnerProduct:
		return "inner product"
	case L2:
		return "L2"
	case Cosine:
		return "cosine"
	}
	return fmt.Sprintf("Metric(%d)", int32(m))
}
