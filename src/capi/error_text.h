// SPDX-License-Identifier: MIT
// Texts that cross the C ABI: this thread's last error, and the one way a text is copied into a
// caller's buffer. Nothing here throws or prints.
#pragma once

#include <cstddef>
#include <string_view>

namespace polarquant::capi {

/// Keeps `text` for polar_last_error on this thread. Bytes that are not UTF-8 (a caller's own,
/// quoted in the text) become '?'. When there is no memory for it, a fixed text that says so is
/// kept.
void set_last_error(std::string_view text) noexcept;

/// Copies `text` into buf, cut to at most cap − 1 bytes between two characters, and a closing 0;
/// nothing when cap is 0 or buf is NULL. Returns the whole text's length.
size_t copy_text(std::string_view text, char* buf, size_t cap) noexcept;

}  // namespace polarquant::capi
