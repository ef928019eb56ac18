// SPDX-License-Identifier: MIT
// The wall between the library's errors and FAISS's callers: an Error leaves as a FaissException
// with the same text. It keeps the status code too, so that the C ABI need not read texts.
#pragma once

#include <faiss/impl/FaissException.h>

#include <string>
#include <utility>

#include "src/core/status.h"

namespace polarquant {

class FaissError : public ::faiss::FaissException {
 public:
  FaissError(StatusCode code, const std::string& text) : FaissException(text), code_(code) {}
  StatusCode code() const noexcept { return code_; }

 private:
  StatusCode code_;
};

/// Calls body(), whose Error leaves as a FaissError. Other exceptions pass.
template <typename Body>
decltype(auto) with_faiss_errors(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Error& error) {
    throw FaissError(error.code(), error.what());
  }
}

}  // namespace polarquant
