// SPDX-License-Identifier: MIT
// The one way this library fails: an Error that carries a pinned status number and a text that
// names the argument, its value and what is allowed. Thrown inside, turned into polar_status by the
// C ABI and into FaissException by the FAISS classes.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "src/core/format.h"
#include "src/core/status_code.h"

namespace polarquant {

/// "bad argument", "not trained", …: the plain name of a code; "unknown status" for other numbers.
const char* status_name(StatusCode code) noexcept;

class Error : public std::runtime_error {
 public:
  Error(StatusCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  StatusCode code() const noexcept { return code_; }

 private:
  StatusCode code_;
};

/// Throws Error{code, formatted text}.
template <typename... Args>
[[noreturn]] void fail(StatusCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, format_text(format, std::forward<Args>(args)...));
}

/// Throws unless `condition` holds; the text is formatted only then.
template <typename... Args>
void require(bool condition, StatusCode code, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) fail(code, format, std::forward<Args>(args)...);
}

}  // namespace polarquant
