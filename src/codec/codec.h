// SPDX-License-Identifier: MIT
// A codec: everything that decides which bytes a vector becomes and what those bytes score.
//
// State = {spec, dim, metric, seed, centre, unit, trained tables, format version}. Each part
// changes the bytes or their meaning, so codes of different states never mix; state_id() tells
// states apart. The maths is docs/codec.md, the bytes docs/format.md. This is the plain code that
// every kernel is tested against.
//
// Threads: const member functions may run at the same time on one codec; the others need sole use.
// Errors: polarquant::Error (core/status.h); after one, the codec is as it was before the call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "src/codec/centroids.h"
#include "src/codec/code_layout.h"
#include "src/codec/codec_kernels.h"
#include "src/codec/factors.h"
#include "src/codec/quantizer.h"
#include "src/codec/rotation.h"
#include "src/codec/search_margins.h"
#include "src/codec/spec.h"
#include "src/codec/typical_rows.h"
#include "src/core/aligned_buffer.h"

namespace polarquant {

class PlannedQuantizer;
struct HeldOutRow;
struct RowDirections;
struct TrainedPlan;

inline constexpr int kMaxDim = 65535;
/// The unit is 2^-40 to 2^40.
inline constexpr int kMaxUnitExponent = 40;
/// Longer rows could overflow scores, which are floats: squared distances of queries up to 2^63.
inline constexpr double kMaxRowNorm = 0x1p61;

struct CodecOptions {
  uint64_t seed = 1;
  /// The centre c, (dim), copied; empty: learned (see learn_centre) or 0.
  std::span<const float> centre;
  /// Whether train() may set the centre to the rows' mean.
  /// Codecs of vectors (PolarTree, PolarPair, PolarScalar) are published without a centre and never
  /// learn one.
  bool learn_centre = true;
  /// Typical ‖x−c‖, rounded to a power of two; 0: learned like the centre, 1 until then.
  double norm_unit = 0;
};

/// Where the centre and unit came from; stored, and shown by info. first_rows: of earlier versions,
/// from an index's first add.
enum class StateOrigin : uint8_t { initial = 0, first_rows = 1, trained = 2 };

/// Which reconstruction decode returns: c + s(1−D)·Rᵀû, of least error, or c + s·Rᵀû, whose inner
/// products are unbiased. The same for codecs of vectors.
enum class Reconstruction : int32_t { least_error = 0, unbiased = 1 };

/// A query as scores need it: score(row) = offset + bias_weight·constant + scale·⟨rotated, ŷ⟩
/// (RowTerms).
struct PreparedQuery {
  AlignedVector<float> rotated;  // (dim): R(q−βc), or Rq where the row has no bias term
  float offset = 0;
  float bias_weight = 1;  // β
  uint64_t state_id = 0;  // of the codec it was prepared by
};

/// A centre for rows instead of the codec's own: that of a list of an inverted file.
struct ListCentre {
  const float* rotated = nullptr;  // (dim): Rc
  float norm = 0;                  // ‖c‖
};

/// The numbers beside a decoded row ŷ; see PreparedQuery.
struct RowTerms {
  float constant = 0;
  float scale = 0;
};

class Codec {
 public:
  Codec(const Spec& spec, int dim, Metric metric, const CodecOptions& options);
  /// A codec from save_state's bytes, which uses these kernels, for what is computed here too;
  /// throws corrupt_data or newer_format. Trusts no byte.
  static std::unique_ptr<Codec> load_state(const uint8_t* data, size_t bytes,
                                           const CodecKernels& kernels = {});
  std::vector<uint8_t> save_state() const;
  /// Puts faster functions in the place of plain ones; no byte changes.
  void use_kernels(const CodecKernels& kernels);
  /// Checksum of save_state(): equal exactly for codecs whose codes mix.
  uint64_t state_id() const { return state_id_; }
  /// "" when codes of both mix, else what differs: "centre", "spec (Polar2 and Polar4)", …
  std::string difference(const Codec& other) const;

  const Spec& spec() const { return spec_; }
  int dim() const { return dim_; }
  Metric metric() const { return metric_; }
  uint64_t seed() const { return seed_; }
  StateOrigin origin() const { return origin_; }
  std::span<const float> centre() const { return centre_; }
  double norm_unit() const;
  double mse() const { return quantizer_->mse(); }
  const Quantizer& quantizer() const { return *quantizer_; }
  const Rotation& rotation() const { return rotation_; }
  const CodeLayout& layout() const { return layout_; }
  const FactorFormat& factor_format() const { return factor_format_; }
  /// The form of 16-bit floats in codes that have any.
  ShortFloat short_float() const { return short_float_; }
  /// x−c of no more than this squared length is the rounding of float inputs: x is the centre.
  double least_norm2() const;
  /// Rows nearer to their centre than this are coded as the centre, rows further away than the
  /// other are refused.
  double least_norm() const;
  double most_norm() const;
  /// The least that a direction's alignment ⟨u,û⟩/dim counts as.
  double least_alignment() const;
  bool has_factors() const { return quantizer_->input() == Quantizer::Input::direction; }
  /// False only for codecs that cannot encode before train() (…-pca, PolarPair…,
  /// PolarTree…-online).
  bool is_trained() const { return quantizer_->is_trained(); }
  /// True when larger scores are nearer (inner product, cosine), false for L2.
  bool higher_is_nearer() const { return metric_ != Metric::l2; }
  size_t memory_bytes() const;
  /// What training found for …-pca: null for other specs.
  const PlannedQuantizer* planned() const;
  /// The centroids that rows are coded about; null where they are about the centre, and before
  /// training.
  const Centroids* centroids() const { return centroids_.get(); }
  /// −‖x−C‖² of n vectors as the metric sees them and every centroid, (n, count).
  void centroid_similarities(int64_t n, const float* x, float* out) const;
  /// What training measured for searches; see train().
  const SearchMargins& search_margins() const { return search_margins_; }
  /// Whether training found a rotation too: not where the untrained code is as good.
  bool has_basis() const { return !rotation_.basis().empty(); }
  /// Whether codes of this state may exist, so that nothing may change it any more: after an
  /// encode, or where the owner of loaded codes says so.
  bool has_encoded() const { return encoded_anything_.load(std::memory_order_relaxed); }
  void mark_encoded() { encoded_anything_.store(true, std::memory_order_relaxed); }
  /// How much worse rows x, (n, dim), are coded than those that training held out: the error of
  /// these (CodingError) divided by the error then. Throws unsupported unless the spec is …-pca,
  /// and bad_argument when all rows equal the centre.
  double drift(int64_t n, const float* x) const;

  /// Learns centre, unit and tables from n ≥ 1 rows x (n, dim). Rows far beyond the others are left
  /// out (typical_rows.h), and a centre that is no nearer to the rows than the origin is not taken.
  /// Throws bad_argument for a row longer than kMaxRowNorm, and state_mismatch once anything was
  /// encoded: those codes would be of another state. `measure` is called with the typical rows
  /// where a rotation was found.
  void train(int64_t n, const float* x, const MeasureMargins& measure = {});

  /// Codes x, (n, dim), into layout().bytes(n) bytes; `threads` as core/parallel.h. Codes every
  /// finite row that is no further than most_norm() from the centre, whatever the unit was learned
  /// from. Throws bad_argument naming the row that is not, or not_trained.
  void encode(int64_t n, const float* x, uint8_t* codes, int threads) const;
  /// The same, each row about a centre of the caller's, (dim), asked for from any thread and read
  /// before the thread asks for another. Such codes need their centre: queries meet them by
  /// residual_query(), and decode gives x̂ − centre. For codecs without a centre of their own,
  /// whose rows have codes of their own. For inner product and cosine b is ⟨c, x−c⟩/‖c‖, so that it
  /// is in the range of ‖x−c‖ whatever the centres are.
  void encode_residuals(int64_t n, const float* x,
                        const std::function<const float*(int64_t row)>& centre_of, uint8_t* codes,
                        int threads) const;
  /// Decodes `count` rows from row `first` on into x, (count, dim).
  void decode(CodeRows codes, int64_t first, int64_t count, Reconstruction kind, float* x) const;

  /// q: (dim), finite.
  PreparedQuery prepare_query(const float* q) const;
  /// coded: coordinates without bits become 0 and cost nothing. No score about the codec's own
  /// centre needs them; those about centroids do, and have them.
  enum class Coordinates { all, coded };
  /// The same of n queries, (n, dim), which costs less where the rotation is a matrix.
  std::vector<PreparedQuery> prepare_queries(int64_t n, const float* q,
                                             Coordinates wanted = Coordinates::all) const;
  /// Makes of a prepared query the one for codes about `centre`.
  void residual_query(const PreparedQuery& query, const ListCentre& centre,
                      PreparedQuery* residual) const;
  /// Rc and ‖c‖ of a centre, (dim); `rotated`, (dim), is written and pointed to.
  ListCentre list_centre(const float* centre, float* rotated) const;
  /// Takes the row's code for a query: the vector is c + s·Rᵀû with the exact b.
  PreparedQuery prepare_query_from_code(CodeRows codes, int64_t row) const;
  /// Decodes one row to ŷ, (dim), in the rotated domain, with what scores need beside it.
  RowTerms decode_for_score(CodeRows codes, int64_t row, float* y) const;
  /// These numbers of a row with factors; of codes without centroids.
  RowTerms score_terms(const Factors& factors) const {
    if (metric_ == Metric::l2) return {factors.bias * factors.bias, -2 * factors.scale};
    return {factors.bias, factors.scale};
  }
  /// The score of a decoded row: one expression for all scans, so that their bits agree.
  float score_decoded(const PreparedQuery& query, const RowTerms& row, const float* y) const {
    const float dot = kernels_.dot_float(query.rotated.data(), y, dim_);
    return query.offset + query.bias_weight * row.constant + row.scale * dot;
  }
  /// Scores of rows first … first+count−1: inner product, cosine or squared L2 distance estimates.
  void score(const PreparedQuery& query, CodeRows codes, int64_t first, int64_t count,
             float* scores) const;
  /// Estimate between two rows, from their codes alone; symmetric. An estimate: the squared
  /// distance of a row to itself comes out below 0.
  float score_codes(CodeRows a, int64_t row_a, CodeRows b, int64_t row_b) const;
  /// The same of rows that decode_for_score gave.
  float score_decoded_rows(const RowTerms& terms_a, const float* ya, const RowTerms& terms_b,
                           const float* yb) const;
  /// out (dim) := Σ weights_i·x̂_i over all rows, x̂ of least error, decoded one row at a time.
  void combine(CodeRows codes, const float* weights, float* out) const;
  /// The end of combine: writes `out` from `sum`, (dim), Σ weights_i·(R(x̂_i − c)), and Σ
  /// weights_i.
  void finish_combine(const double* sum, double weight_sum, float* out) const;

  /// Throws state_mismatch unless `query` was prepared by a codec of this state.
  void require_same_state(const PreparedQuery& query) const;

 private:
  /// What training may change; made aside and adopted whole, so that a failure changes nothing.
  struct Learned {
    std::vector<float> centre;  // (dim)
    int unit_exponent = 0;
    std::unique_ptr<Quantizer> quantizer;  // null: keep
    AlignedVector<int16_t> basis;          // of a trained rotation; empty: keep
    std::shared_ptr<const Centroids> centroids;
    Shares shares;
    ShortFloat short_float = ShortFloat::wide16;
    SearchMargins search_margins;
    StateOrigin origin = StateOrigin::initial;
    TypicalRows typical;  // of those trained on
  };

  void adopt(Learned learned);
  Learned learn(int64_t n, const float* x, bool with_centre) const;
  void train_quantizer(int64_t n, const float* x, Learned* learned) const;
  void train_centroids_of(int64_t n, const float* x, Learned* learned) const;
  void train_with_centroids(int64_t n, const float* x, Learned* learned) const;
  void take_plan(TrainedPlan trained, Learned* learned) const;
  void learn_shares(const std::vector<HeldOutRow>& rows, Learned* learned) const;
  void require_shares() const;
  void measure_margins(int64_t n, const float* x, const MeasureMargins& measure,
                       Learned* learned) const;
  /// Calls with a codec of what was learned so far.
  void with_learned(Learned* learned, const std::function<void(Codec& trained)>& measure) const;
  /// The centre that a row is coded about. b is bias_scale·⟨c, x−c⟩ for inner product and cosine.
  struct Centre {
    const float* vector;
    double norm2;
    double bias_scale = 1;
    int centroid = 0;  // its number, for codes about centroids
  };
  Centre own_centre() const { return {centre_.data(), centre_norm2_}; }

  void require_finite_rows(int64_t n, const float* x) const;
  bool direction_of(const float* x, const float* centre, double centre_norm2, float* u) const;
  double residual(const float* x, const float* centre, double centre_norm2, float* v) const;
  RowDirections row_directions(const std::vector<float>& centre, double centre_norm2, int64_t n,
                               const float* x) const;
  RowDirections row_directions(const Centroids& centroids, const std::vector<int32_t>& nearest,
                               const float* x) const;
  bool has_short_floats() const;
  bool has_wide_floats() const;
  uint32_t format_version() const;
  std::vector<uint8_t> state_body() const;

  PreparedQuery centre_query(const float* q) const;
  void metric_input(const float* x, float* input) const;
  double centred(const float* input, const float* centre, double centre_norm2, float* v) const;
  double rotated_vector(const float* x, const float* centre, int unit_exponent, float* v) const;
  void require_codable(double norm) const;
  /// A row whose planes are written: v is x−c, which may be 0, and decoded û. Both are the calling
  /// thread's until it codes another row.
  struct CodedRow {
    Factors factors;   // all but the bias; a scale of 0: the row is its centre
    double norm2 = 0;  // ‖x−c‖²
    const float* v = nullptr;
    const float* decoded = nullptr;
  };
  CodedRow code_row(const float* x, const Centre& centre, uint8_t* code) const;
  void encode_direction(const float* x, const Centre& centre, uint8_t* code) const;
  double alignment_of(const float* u, const float* decoded) const;
  double scale_of(double norm, const float* u, const float* decoded) const;
  const CentroidFinder& centroid_finder() const;
  std::vector<int32_t> nearest_centroids(int64_t n, const float* x, int threads) const;
  void find_nearest(const CentroidFinder& finder, int64_t n, const float* x, int threads,
                    int32_t* nearest) const;
  double stored_scale(Factors factors) const;
  double along_centroid(const CodedRow& row) const;
  double centroid_bias(const CodedRow& row) const;
  bool has_balanced_factors() const { return factor_format_.stores_shares(); }
  double least_error_gain(const float* decoded) const;
  Shares most_shares() const;
  /// R·C, (dim).
  const float* rotated_centroid(int number) const {
    return rotated_centroids_.data() + static_cast<size_t>(number) * static_cast<size_t>(dim_);
  }
  void add_centroid(const Factors& factors, Reconstruction kind, float* y) const;
  void encode_group(int64_t first_row, const float* x, const Centre& centre, uint8_t* code) const;
  template <typename CentreOf>
  void encode_rows(int64_t n, const float* x, const CentreOf& centre_of, uint8_t* codes,
                   int threads) const;
  void require_can_encode(int64_t n) const;
  float decode_scaled(CodeRows codes, int64_t row, Reconstruction kind, float* y) const;
  Factors decode_direction(CodeRows codes, int64_t row, float* y) const;
  void decode_vector(CodeRows codes, int64_t row, float* y) const;

  Spec spec_;
  int dim_;
  Metric metric_;
  uint64_t seed_;
  bool learn_centre_ = true;
  bool learn_unit_ = true;
  StateOrigin origin_ = StateOrigin::initial;
  std::vector<float> centre_;  // (dim), zeros when there is none
  int unit_exponent_ = 0;      // the unit is 2^unit_exponent

  CodecKernels kernels_;
  std::unique_ptr<Quantizer> quantizer_;
  Rotation rotation_;
  std::shared_ptr<const Centroids> centroids_;
  AlignedVector<float> rotated_centroids_;  // (count, dim)
  /// Made by the first encode.
  mutable std::mutex finder_mutex_;
  mutable std::unique_ptr<const CentroidFinder> centroid_finder_;
  SearchMargins search_margins_;
  ShortFloat short_float_ = ShortFloat::wide16;
  AlignedVector<float> rotated_centre_;
  double centre_norm2_ = 0;
  double centre_norm_ = 0;
  FactorFormat factor_format_;
  CodeLayout layout_;
  uint64_t state_id_ = 0;
  mutable std::atomic<bool> encoded_anything_{false};
};

}  // namespace polarquant
