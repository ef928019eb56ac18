// SPDX-License-Identifier: MIT
// The header of NumPy's .npy format, versions 1 to 3: magic, version, length, and a Python dict of
// descr, fortran_order and shape. Only what NumPy itself writes is accepted; nothing is evaluated.
// Source: numpy.lib.format's documentation.
#include <array>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bench/recall/matrix_layout.h"
#include "src/core/status.h"

namespace polarquant::bench {
namespace {

constexpr std::array<unsigned char, 6> kMagic = {0x93, 'N', 'U', 'M', 'P', 'Y'};
// NumPy pads headers to a multiple of 64 bytes and writes some 120; a matrix's never comes near
// this.
constexpr uint32_t kMaxHeaderBytes = 1U << 16;

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

/// Reads the dict literal from left to right; each failure names the file and the offending place.
class NpyHeaderParser {
 public:
  NpyHeaderParser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  NpyHeader parse() {
    NpyHeader header;
    bool seen[3] = {false, false, false};
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted("a key");
      expect(':');
      if (key == "descr") {
        if (peek() == '[') {
          fail(StatusCode::unsupported,
               "{}: descr is a list: a structured array (allowed: one number type)", path_);
        }
        header.descr = quoted("descr");
        seen[0] = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        seen[1] = true;
      } else if (key == "shape") {
        header.shape = tuple();
        seen[2] = true;
      } else {
        fail(StatusCode::corrupt_data,
             "{}: key '{}' in the header (allowed: descr, fortran_order, shape)", path_, key);
      }
      if (!accept(',') && peek() != '}') bad("',' or '}'");
    }
    require(seen[0] && seen[1] && seen[2], StatusCode::corrupt_data,
            "{}: the header lacks descr, fortran_order or shape", path_);
    return header;
  }

 private:
  char peek() {
    while (at_ < text_.size() && std::strchr(" \t\n\r", text_[at_]) != nullptr) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad(std::string("'") + c + "'");
  }
  [[noreturn]] void bad(const std::string& wanted) {
    fail(StatusCode::corrupt_data, "{}: header byte {}: {} expected, \"{}\" found", path_, at_,
         wanted, text_.substr(at_, 12));
  }
  std::string quoted(const char* what) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') bad(std::string(what) + " in quotes");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) bad("a closing quote");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }
  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    bad("True or False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> out;
    expect('(');
    while (!accept(')')) {
      peek();
      int64_t value = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
      if (error != std::errc() || value < 0) bad("a size from 0 to 2^63 - 1");
      at_ += static_cast<size_t>(end - begin);
      out.push_back(value);
      if (!accept(',') && peek() != ')') bad("',' or ')'");
    }
    return out;
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
};

ElementType element_of(const std::string& descr, const std::string& path) {
  struct Row {
    const char* descr;
    ElementType type;
  };
  static constexpr Row kRows[] = {{"<f4", ElementType::float32},
                                  {"<f2", ElementType::float16},
                                  {"<i4", ElementType::int32},
                                  {"<i8", ElementType::int64}};
  for (const Row& row : kRows) {
    if (descr == row.descr) return row.type;
  }
  fail(StatusCode::unsupported,
       "{}: descr '{}'{} (allowed: '<f4', '<f2' for vectors, '<i4', '<i8' for ids)", path, descr,
       !descr.empty() && descr[0] == '>' ? ": big-endian" : "");
}

}  // namespace

MatrixLayout npy_layout(const InputFile& file) {
  std::array<unsigned char, 8> start = {};  // magic, major, minor
  file.read_at(0, start.data(), start.size(), "the magic");
  require(std::memcmp(start.data(), kMagic.data(), kMagic.size()) == 0, StatusCode::corrupt_data,
          "{}: the file does not begin with \"\\x93NUMPY\": no .npy file", file.path());
  const int major = start[6];
  require(major >= 1 && major <= 3, StatusCode::newer_format,
          "{}: npy version {} (allowed: 1 to 3)", file.path(), major);
  uint32_t header_bytes = 0;
  // Version 1 has a 16-bit length; later ones 32 bits.
  const uint64_t length_bytes = major == 1 ? 2 : 4;
  file.read_at(start.size(), &header_bytes, length_bytes, "the header's length");
  require(header_bytes <= kMaxHeaderBytes, StatusCode::corrupt_data,
          "{}: the header claims {} bytes (allowed: up to {})", file.path(), header_bytes,
          kMaxHeaderBytes);
  const uint64_t header_at = start.size() + length_bytes;
  std::string text;
  if (header_bytes <= file.size()) text.resize(header_bytes);
  file.read_at(header_at, text.data(), header_bytes, "the header");

  const NpyHeader header = NpyHeaderParser(text, file.path()).parse();
  require(!header.fortran_order, StatusCode::unsupported,
          "{}: fortran_order is True (allowed: False; save numpy.ascontiguousarray of it)",
          file.path());
  require(header.shape.size() == 2, StatusCode::unsupported,
          "{}: shape has {} dimensions (allowed: 2: rows, dimension)", file.path(),
          header.shape.size());
  const MatrixLayout layout{.rows = header.shape[0],
                            .dim = header.shape[1],
                            .type = element_of(header.descr, file.path()),
                            .data_offset = header_at + header_bytes,
                            .row_prefix_bytes = 0};
  const uint64_t bytes = checked_data_bytes(file, layout);
  require(layout.data_offset + bytes == file.size(), StatusCode::corrupt_data,
          "{}: shape ({}, {}) of {} takes {} bytes after the header, but {} follow", file.path(),
          layout.rows, layout.dim, element_name(layout.type), bytes,
          file.size() - layout.data_offset);
  return layout;
}

}  // namespace polarquant::bench
