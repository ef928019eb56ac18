// SPDX-License-Identifier: MIT
// Index files as fuzz inputs: sections one after the other, without the table, the checksums and
// the gaps up to pages, all of which are made right when the file is put together. So what is wrong
// reaches the readers of sections.
//
// A section: four bytes of kind, one of place, four of length, its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/faiss/file_surgery.h"

namespace polarquant::fuzz {

/// As many sections as the bytes have; the last one is shorter where they end.
std::vector<test::FileSection> parse_sections(const uint8_t* data, size_t bytes);
std::vector<uint8_t> print_sections(const std::vector<test::FileSection>& sections);

}  // namespace polarquant::fuzz
