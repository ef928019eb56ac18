// SPDX-License-Identifier: MIT
// What FAISS's exceptions say, without where in FAISS's source they were thrown.
#pragma once

#include <string>
#include <string_view>

namespace polarquant::capi {

/// The text with each "Error in FUNCTION at FILE:LINE: Error: 'CONDITION' failed: REASON" of
/// FAISS's as its reason, or as the condition where it gives none. Other texts are as they were.
std::string without_faiss_places(std::string_view text);

}  // namespace polarquant::capi
