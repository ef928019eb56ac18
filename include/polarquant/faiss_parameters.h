// SPDX-License-Identifier: MIT
// Parameters of searches by name, as faiss::ParameterSpace has them, with those of our indexes.
// Included by polarquant/faiss.h.
#ifndef POLARQUANT_FAISS_PARAMETERS_H
#define POLARQUANT_FAISS_PARAMETERS_H

#include <faiss/AutoTune.h>

#include <string>
#include <vector>

namespace polarquant {

/// A parameter that an index takes.
struct IndexParameter {
  std::string name;            ///< "nprobe", "quantizer_efSearch"
  double value;                ///< as it is set
  double least, most;          ///< what is allowed
  bool is_integer;             ///< whether whole numbers alone are
  std::vector<double> values;  ///< worth trying, from fast to accurate; none: not for tuning
};

/// What an index takes, each with its name and its value:
/// - nprobe, max_codes (inf: all), of inverted files;
/// - exactness, of IndexPolar and IndexIVFPolar (inf: every row is scored);
/// - k_factor_rf, of refinements: IndexRefine::k_factor;
/// - efSearch and efConstruction, of HNSW; search_L, of NSG;
/// - ht and k_factor, of FAISS's product quantizers;
/// - quantizer_ before any of them: of the coarse quantizer of an inverted file.
/// A name is looked up from outside in, through transforms, id maps, refinements (their first
/// index) and shards.
std::vector<IndexParameter> index_parameters(const ::faiss::Index& index);

/// Sets one parameter. As FAISS does, `efSearch` and `efConstruction` of an inverted file are those
/// of its quantizer, and `verbose` is taken by every index on the way in.
/// Needs sole use of the index. Throws faiss::FaissException, the index unchanged, for names that
/// it does not take, saying which it does, and for values out of range.
void set_index_parameter(::faiss::Index& index, const std::string& name, double value);

/// Sets all of "nprobe=16,exactness=2", or none of them when one is refused: numbers without sign,
/// or inf; parted by commas or spaces.
void set_index_parameters(::faiss::Index& index, const std::string& parameters);

/// faiss::ParameterSpace for our indexes too: what it knows besides (combinations, explore) goes by
/// these two.
struct ParameterSpace : ::faiss::ParameterSpace {
  /// Ranges of all that index_parameters says is worth trying.
  void initialize(const ::faiss::Index* index) override;

  using ::faiss::ParameterSpace::set_index_parameter;
  void set_index_parameter(::faiss::Index* index, const std::string& name,
                           double value) const override;
};

}  // namespace polarquant

#endif
