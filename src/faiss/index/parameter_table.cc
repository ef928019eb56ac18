// SPDX-License-Identifier: MIT
#include "src/faiss/index/parameter_table.h"

#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexIVFPQ.h>
#include <faiss/IndexIVFPQR.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPQ.h>
#include <faiss/IndexRefine.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "polarquant/faiss.h"
#include "src/faiss/graphs/hnsw_graph.h"

namespace polarquant {
namespace {

using Kind = ParameterRow::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMaxInt = INT32_MAX;

template <typename Number>
Number to_number(double value) {
  if constexpr (std::is_same_v<Number, float>) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    return value > kLargest ? std::numeric_limits<float>::infinity() : static_cast<float>(value);
  } else {
    return static_cast<Number>(value);
  }
}

/// A row for field(an index of Class), which refers to a number of any type.
template <typename Class, typename Field>
constexpr ParameterRow field_row(const char* name, double least, double most, Kind kind,
                                 Field /*field*/,
                                 std::vector<double> (*values)(const ::faiss::Index&) = nullptr) {
  using Number = std::remove_cvref_t<std::invoke_result_t<Field, Class&>>;
  return {
      .name = name,
      .least = least,
      .most = most,
      .is_integer = std::is_integral_v<Number>,
      .kind = kind,
      .get = [](const ::faiss::Index& index) -> std::optional<double> {
        const auto* found = dynamic_cast<const Class*>(&index);
        if (found == nullptr) return std::nullopt;
        return static_cast<double>(Field{}(*found));
      },
      .set = [](::faiss::Index& index,
                double value) { Field{}(dynamic_cast<Class&>(index)) = to_number<Number>(value); },
      .values = values};
}

std::vector<double> powers_of_two(int from, int to) {
  std::vector<double> values;
  for (int i = from; i <= to; ++i) values.push_back(std::ldexp(1, i));
  return values;
}

std::vector<double> below_nlist(const ::faiss::Index& index) {
  std::vector<double> values = powers_of_two(0, 12);
  const auto nlist = static_cast<double>(dynamic_cast<const ::faiss::IndexIVF&>(index).nlist);
  std::erase_if(values, [nlist](double nprobe) { return nprobe >= nlist; });
  return values;
}

std::vector<double> exactnesses(const ::faiss::Index& /*index*/) {
  return {1, 1.5, 1.75, 2, 2.25, 2.5, 3, kInfinity};
}
std::vector<double> factors(const ::faiss::Index& /*index*/) { return powers_of_two(0, 6); }
std::vector<double> beams(const ::faiss::Index& /*index*/) { return powers_of_two(2, 9); }

// ---- max_codes: FAISS's 0 is no limit ----

std::optional<double> get_max_codes(const ::faiss::Index& index) {
  const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index);
  if (ivf == nullptr) return std::nullopt;
  return ivf->max_codes == 0 ? kInfinity : static_cast<double>(ivf->max_codes);
}

void set_max_codes(::faiss::Index& index, double value) {
  constexpr double kLargest = 1e15;  // whole numbers are exact up to there
  dynamic_cast<::faiss::IndexIVF&>(index).max_codes =
      value > kLargest ? 0 : static_cast<size_t>(value);
}

/// Lists of multi-indexes are many and short.
std::vector<double> max_codes_values(const ::faiss::Index& index) {
  const auto& ivf = dynamic_cast<const ::faiss::IndexIVF&>(index);
  if (dynamic_cast<const ::faiss::MultiIndexQuantizer*>(ivf.quantizer) == nullptr) return {};
  std::vector<double> values = powers_of_two(8, 19);
  values.push_back(kInfinity);
  return values;
}

// ---- ht, a Hamming distance: from the code's bits on, nothing is left out by it ----

std::vector<double> thresholds(const ::faiss::ProductQuantizer& pq) {
  const auto bits = static_cast<double>(pq.code_size * 8);
  std::vector<double> values;
  if (pq.code_size % 4 == 0) {  // those for which FAISS can compare words
    for (int ht = 2; ht <= bits / 2; ht += 2) values.push_back(ht);
  }
  values.push_back(bits);
  return values;
}

std::optional<double> get_pq_ht(const ::faiss::Index& index) {
  const auto* pq = dynamic_cast<const ::faiss::IndexPQ*>(&index);
  if (pq == nullptr) return std::nullopt;
  return pq->search_type == ::faiss::IndexPQ::ST_polysemous
             ? pq->polysemous_ht
             : static_cast<double>(pq->pq.code_size * 8);
}

void set_pq_ht(::faiss::Index& index, double value) {
  auto& pq = dynamic_cast<::faiss::IndexPQ&>(index);
  const bool filters = value < static_cast<double>(pq.pq.code_size * 8);
  pq.search_type = filters ? ::faiss::IndexPQ::ST_polysemous : ::faiss::IndexPQ::ST_PQ;
  if (filters) pq.polysemous_ht = static_cast<int>(value);
}

std::optional<double> get_ivf_pq_ht(const ::faiss::Index& index) {
  const auto* ivf = dynamic_cast<const ::faiss::IndexIVFPQ*>(&index);
  if (ivf == nullptr) return std::nullopt;
  return ivf->polysemous_ht != 0 ? ivf->polysemous_ht : static_cast<double>(ivf->pq.code_size * 8);
}

void set_ivf_pq_ht(::faiss::Index& index, double value) {
  auto& ivf = dynamic_cast<::faiss::IndexIVFPQ&>(index);
  const bool filters = value < static_cast<double>(ivf.pq.code_size * 8);
  ivf.polysemous_ht = filters ? static_cast<int>(value) : 0;
}

// ---- HNSW's names, taken by an inverted file for its quantizer ----

constexpr auto kEfSearch = [](auto& graph) -> auto& { return graph.hnsw.efSearch; };
constexpr auto kEfConstruction = [](auto& graph) -> auto& { return graph.hnsw.efConstruction; };

template <typename Field>
constexpr ParameterRow quantizer_row(const char* name, Field /*field*/) {
  return {.name = name,
          .least = 1,
          .most = kMaxEf,
          .is_integer = true,
          .kind = Kind::other,
          .get = [](const ::faiss::Index& index) -> std::optional<double> {
            const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index);
            if (ivf == nullptr) return std::nullopt;
            const auto* graph = dynamic_cast<const ::faiss::IndexHNSW*>(ivf->quantizer);
            if (graph == nullptr) return std::nullopt;
            return Field{}(*graph);
          },
          .set =
              [](::faiss::Index& index, double value) {
                auto& ivf = dynamic_cast<::faiss::IndexIVF&>(index);
                Field{}(dynamic_cast<::faiss::IndexHNSW&>(*ivf.quantizer)) =
                    static_cast<int>(value);
              },
          .values = nullptr};
}

const ParameterRow kTable[] = {
    field_row<::faiss::IndexRefine>(
        "k_factor_rf", 1, kMaxInt, Kind::search,
        [](auto& index) -> auto& { return index.k_factor; }, factors),
    field_row<::faiss::IndexIVF>(
        "nprobe", 1, kMaxInt, Kind::search, [](auto& index) -> auto& { return index.nprobe; },
        below_nlist),
    {"max_codes", 0, kInfinity, true, Kind::search, get_max_codes, set_max_codes, max_codes_values},
    field_row<IndexPolar>(
        "exactness", 0, kInfinity, Kind::search,
        [](auto& index) -> auto& { return index.exactness; }, exactnesses),
    field_row<IndexIVFPolar>(
        "exactness", 0, kInfinity, Kind::search,
        [](auto& index) -> auto& { return index.exactness; }, exactnesses),
    field_row<::faiss::IndexHNSW>("efSearch", 1, kMaxEf, Kind::search, kEfSearch, beams),
    quantizer_row("efSearch", kEfSearch),
    field_row<::faiss::IndexHNSW>("efConstruction", 1, kMaxEf, Kind::search, kEfConstruction),
    quantizer_row("efConstruction", kEfConstruction),
    field_row<::faiss::IndexNSG>(
        "search_L", 1, kMaxEf, Kind::search,
        [](auto& index) -> auto& { return index.nsg.search_L; }, beams),
    {"ht", 0, kMaxInt, true, Kind::search, get_pq_ht, set_pq_ht,
     [](const ::faiss::Index& index) {
       return thresholds(dynamic_cast<const ::faiss::IndexPQ&>(index).pq);
     }},
    {"ht", 0, kMaxInt, true, Kind::search, get_ivf_pq_ht, set_ivf_pq_ht,
     [](const ::faiss::Index& index) {
       return thresholds(dynamic_cast<const ::faiss::IndexIVFPQ&>(index).pq);
     }},
    field_row<::faiss::IndexIVFPQR>(
        "k_factor", 1, kMaxInt, Kind::search, [](auto& index) -> auto& { return index.k_factor; },
        factors),
    field_row<::faiss::Index>(
        "verbose", 0, 1, Kind::all_parts, [](auto& index) -> auto& { return index.verbose; }),
};

}  // namespace

std::span<const ParameterRow> parameter_table() { return kTable; }

}  // namespace polarquant
