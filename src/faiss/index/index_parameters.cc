// SPDX-License-Identifier: MIT
// index_parameters, set_index_parameter and set_index_parameters: names of the table looked up in
// an index with those inside it.
#include "src/faiss/index/index_parameters.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "polarquant/faiss.h"
#include "src/core/status.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/index/index_parts.h"
#include "src/faiss/index/parameter_table.h"

namespace polarquant {
namespace {

constexpr std::string_view kQuantizer = "quantizer_";
constexpr std::string_view kSpaces = " \t\n";

/// The index that a name is set in.
template <typename Index>
struct Place {
  const ParameterRow* row;
  Index* index;
};

template <typename Index>
void find_places(Index& index, std::string_view name, std::vector<Place<Index>>& places) {
  for (const ParameterRow& row : parameter_table()) {
    if (row.name != name || !row.get(index)) continue;
    places.push_back({&row, &index});
    if (row.kind != ParameterRow::Kind::all_parts) return;
    break;
  }
  const bool is_for_quantizer = name.substr(0, kQuantizer.size()) == kQuantizer;
  for (const auto& part : parts_of(index)) {
    if (is_searched(part.kind)) {
      find_places(*part.index, name, places);
    } else if (is_for_quantizer && part.kind == PartKind::quantizer) {
      find_places(*part.index, name.substr(kQuantizer.size()), places);
    }
  }
}

template <typename Index>
std::vector<Place<Index>> places_of(Index& index, std::string_view name) {
  std::vector<Place<Index>> places;
  find_places(index, name, places);
  return places;
}

void list(const ::faiss::Index& index, const std::string& prefix,
          std::vector<IndexParameter>& listed) {
  for (const ParameterRow& row : parameter_table()) {
    const std::optional<double> value = row.get(index);
    if (!value || row.kind != ParameterRow::Kind::search) continue;
    const std::string name = prefix + row.name;
    // The outermost of several counts.
    const bool is_listed = std::any_of(listed.begin(), listed.end(),
                                       [&](const auto& other) { return other.name == name; });
    if (is_listed) continue;
    listed.push_back({name, *value, row.least, row.most, row.is_integer,
                      row.values != nullptr ? row.values(index) : std::vector<double>()});
  }
  for (const auto& part : parts_of(index)) {
    if (is_searched(part.kind)) list(*part.index, prefix, listed);
    if (part.kind == PartKind::quantizer)
      list(*part.index, prefix + std::string(kQuantizer), listed);
  }
}

std::string names_taken(const ::faiss::Index& index) {
  std::string names;
  for (const IndexParameter& parameter : index_parameters(index)) {
    names += (names.empty() ? "" : ", ") + parameter.name;
  }
  return names.empty() ? "none" : names;
}

/// The indexes in which the value is to be set, when the index takes it.
std::vector<Place<::faiss::Index>> checked_places(::faiss::Index& index, const NamedValue& set) {
  std::vector<Place<::faiss::Index>> places = places_of(index, set.name);
  require(!places.empty(), StatusCode::unsupported,
          "parameters: the index takes no \"{}\"; it takes {}", set.name, names_taken(index));
  for (const auto& place : places) {
    const ParameterRow& row = *place.row;
    const bool is_whole = std::isinf(set.value) || std::trunc(set.value) == set.value;
    require(set.value >= row.least && set.value <= row.most && (is_whole || !row.is_integer),
            StatusCode::bad_argument, "parameters: {} is {}; {} from {} to {} are allowed",
            set.name, set.value, row.is_integer ? "whole numbers" : "numbers", row.least, row.most);
  }
  return places;
}

NamedValue parse_part(std::string_view part) {
  const size_t equals = part.find('=');
  const bool has_both = equals != std::string_view::npos && equals > 0 && equals + 1 < part.size();
  require(has_both, StatusCode::bad_argument,
          "parameters: part \"{}\" is not allowed; name=number is", part);
  const std::string_view text = part.substr(equals + 1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value >= 0,
          StatusCode::bad_argument,
          "parameters: {} is \"{}\"; a number from 0 on, or inf, is needed", part.substr(0, equals),
          text);
  return {std::string(part.substr(0, equals)), value};
}

/// The parts of a text between any of these characters, empty ones too.
std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<NamedValue> parse_parameters(std::string_view text) {
  std::vector<NamedValue> values;
  if (text.find_first_not_of(kSpaces) == std::string_view::npos) return values;
  for (const std::string_view between_commas : split(text, ",")) {
    bool is_empty = true;
    for (const std::string_view part : split(between_commas, kSpaces)) {
      if (part.empty()) continue;
      values.push_back(parse_part(part));
      is_empty = false;
    }
    if (is_empty) parse_part(between_commas);
  }
  return values;
}

bool takes_parameter(const ::faiss::Index& index, std::string_view name) {
  return !places_of(index, name).empty();
}

std::vector<IndexParameter> index_parameters(const ::faiss::Index& index) {
  return with_faiss_errors([&] {
    std::vector<IndexParameter> listed;
    list(index, "", listed);
    return listed;
  });
}

void set_index_parameter(::faiss::Index& index, const std::string& name, double value) {
  with_faiss_errors([&] {
    for (const auto& place : checked_places(index, {name, value}))
      place.row->set(*place.index, value);
  });
}

void set_index_parameters(::faiss::Index& index, const std::string& parameters) {
  with_faiss_errors([&] {
    const std::vector<NamedValue> values = parse_parameters(parameters);
    for (const NamedValue& value : values) checked_places(index, value);
    for (const NamedValue& value : values) set_index_parameter(index, value.name, value.value);
  });
}

void ParameterSpace::initialize(const ::faiss::Index* index) {
  for (const IndexParameter& parameter : index_parameters(*index)) {
    if (!parameter.values.empty()) add_range(parameter.name).values = parameter.values;
  }
}

void ParameterSpace::set_index_parameter(::faiss::Index* index, const std::string& name,
                                         double value) const {
  polarquant::set_index_parameter(*index, name, value);
}

}  // namespace polarquant
