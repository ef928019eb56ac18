// SPDX-License-Identifier: MIT
// Checks of what callers pass through the C ABI. Each throws bad_argument with a text of one form:
// "argument: value; what is allowed".
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/codec/code_layout.h"
#include "src/codec/codec.h"
#include "src/core/status.h"

namespace polarquant::capi {

inline constexpr int32_t kMaxThreads = 1024;
/// FAISS parses descriptions by recursive regular expressions, which need stack by the byte; the
/// longest sensible name is far shorter.
inline constexpr size_t kMaxNameBytes = 1000;

/// The object of a pointer that must not be NULL: a handle, a struct or one output value.
template <typename T>
T& require_object(const char* name, T* pointer) {
  require(pointer != nullptr, StatusCode::bad_argument, "{}: NULL is not allowed", name);
  return *pointer;
}

/// A count of rows, queries or results.
void require_count(const char* name, int64_t value, int64_t least);
/// An array of (rows, cols) items of item_bytes each: its size must fit a size_t, and its pointer
/// must not be NULL unless it has no item.
void require_array(const char* name, const void* pointer, int64_t rows, int64_t cols,
                   size_t item_bytes);
/// An array of floats as by require_array, all finite; the text names the first that is not. For
/// what the layers below do not check by row themselves, as Codec::encode and train do.
void require_finite(const char* name, const float* x, int64_t rows, int64_t cols);
void require_dim(int32_t dim);
void require_threads(int32_t num_threads);
Metric require_metric(int32_t metric);
/// A path given as a C string: not NULL. How long it may be, the system says.
const char* require_path(const char* name, const char* path);
/// A name given as a C string: not NULL, at most kMaxNameBytes.
const char* require_name(const char* name, const char* text);
/// Codes of n rows of this codec; n_name and codes_name as the function calls its arguments,
/// codes_name followed by "_bytes" being the size's.
CodeRows require_codes(const Codec& codec, const char* n_name, int64_t n, const char* codes_name,
                       const uint8_t* codes, size_t codes_bytes);
/// Throws not_trained when the codec cannot encode yet; it then has no codes and no queries either.
void require_trained(const Codec& codec);

}  // namespace polarquant::capi
