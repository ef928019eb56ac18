// SPDX-License-Identifier: MIT
// The inside of the C ABI that its functions cannot reach on purpose: what each exception becomes,
// how texts are kept and cut, and how structs of other versions are read.
#include "src/capi/exception_wall.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "src/capi/error_text.h"
#include "src/capi/options.h"
#include "src/core/status.h"
#include "tests/support/catch.h"

#ifdef POLARQUANT_HAS_FAISS
#include "src/faiss/foreign/faiss_error.h"
#endif

using namespace polarquant;
using namespace polarquant::capi;

// The thread sanitizer has allocation functions of its own, which cannot be replaced.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define POLAR_TEST_OWN_ALLOCATION 0
#endif
#endif
#ifndef POLAR_TEST_OWN_ALLOCATION
#define POLAR_TEST_OWN_ALLOCATION 1
#endif

#if POLAR_TEST_OWN_ALLOCATION
namespace {

thread_local bool memory_is_full = false;

}  // namespace

// This program's allocations, which a test can make fail.
void* operator new(size_t bytes) {
  void* memory = memory_is_full ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return memory_is_full ? nullptr : std::malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace {

std::string last_error() {
  std::string text(polar_last_error(nullptr, 0), '\0');
  polar_last_error(text.data(), text.size() + 1);
  return text;
}

template <typename Exception>
void check_becomes(const Exception& exception, polar_status status, const std::string& text) {
  CHECK(run_guarded([&] { throw exception; }) == status);
  CHECK(last_error() == text);
}

}  // namespace

TEST_CASE("each exception becomes its status and text", "[capi]") {
  check_becomes(Error(StatusCode::not_trained, "train first"), POLAR_ERROR_NOT_TRAINED,
                "train first");
  check_becomes(Error(StatusCode::corrupt_data, "damaged"), POLAR_ERROR_CORRUPT_DATA, "damaged");
  check_becomes(std::bad_alloc(), POLAR_ERROR_OUT_OF_MEMORY, "an allocation failed");
  check_becomes(std::bad_array_new_length(), POLAR_ERROR_OUT_OF_MEMORY, "an allocation failed");
  check_becomes(std::length_error("vector::reserve"), POLAR_ERROR_OUT_OF_MEMORY,
                "an allocation failed: it is larger than memory can be");
  check_becomes(std::logic_error("impossible"), POLAR_ERROR_INTERNAL, "impossible");
  check_becomes(7, POLAR_ERROR_INTERNAL, "an exception of an unknown type");
#ifdef POLARQUANT_HAS_FAISS
  check_becomes(::faiss::FaissException("no such thing"), POLAR_ERROR_BAD_ARGUMENT,
                "no such thing");
  check_becomes(FaissError(StatusCode::not_found, "id: 7"), POLAR_ERROR_NOT_FOUND, "id: 7");
#endif
}

#if POLAR_TEST_OWN_ALLOCATION
TEST_CASE("an error whose text cannot be stored keeps its status", "[capi]") {
  const Error error(StatusCode::corrupt_data, std::string(5000, 'x'));
  const polar_status status = run_guarded([&] {
    memory_is_full = true;
    throw error;
  });
  memory_is_full = false;
  CHECK(status == POLAR_ERROR_CORRUPT_DATA);
  CHECK(last_error() == "out of memory while storing the text of an error");
  set_last_error("short again");
  CHECK(last_error() == "short again");
}
#endif

TEST_CASE("success keeps the text of the last failure", "[capi]") {
  CHECK(run_guarded([] { throw Error(StatusCode::io, "kept"); }) == POLAR_ERROR_IO);
  CHECK(run_guarded([] {}) == POLAR_OK);
  CHECK(last_error() == "kept");
}

TEST_CASE("each thread has its own text", "[capi]") {
  set_last_error("of this thread");
  std::string before, after;
  std::thread other([&] {
    before = last_error();
    set_last_error("of the other");
    after = last_error();
  });
  other.join();
  CHECK(before.empty());
  CHECK(after == "of the other");
  CHECK(last_error() == "of this thread");
}

TEST_CASE("a text that is not UTF-8 is kept as UTF-8", "[capi]") {
  struct Row {
    const char* given;
    const char* kept;
  };
  const Row rows[] = {
      {"plain", "plain"},
      {"\xC3\xBC \xE2\x88\x92 \xF0\x9D\x95\xA1", "\xC3\xBC \xE2\x88\x92 \xF0\x9D\x95\xA1"},
      {"a\xFFz", "a?z"},
      {"a\x80z", "a?z"},
      {"cut \xE2\x88", "cut ??"},
      {"\xC0\xAF", "??"},           // overlong
      {"\xE0\x80\xAF", "???"},      // overlong
      {"\xED\xA0\x80", "???"},      // surrogate
      {"\xF4\x90\x80\x80", "????"}  // above U+10FFFF
  };
  for (const Row& row : rows) {
    set_last_error(row.given);
    CHECK(last_error() == row.kept);
  }
}

TEST_CASE("texts are cut to the buffer, between characters", "[capi]") {
  const std::string text = "ab\xE2\x88\x92z";  // a b − z
  struct Row {
    size_t cap;
    const char* copied;
  };
  const Row rows[] = {{1, ""},
                      {2, "a"},
                      {3, "ab"},
                      {4, "ab"},
                      {5, "ab"},
                      {6, "ab\xE2\x88\x92"},
                      {7, "ab\xE2\x88\x92z"},
                      {16, "ab\xE2\x88\x92z"}};
  for (const Row& row : rows) {
    char buf[17];
    std::memset(buf, '#', sizeof buf);
    CHECK(copy_text(text, buf, row.cap) == text.size());
    CHECK(std::string(buf) == row.copied);
    CHECK(buf[row.cap] == '#');
  }
  char untouched = '#';
  CHECK(copy_text(text, &untouched, 0) == text.size());
  CHECK(untouched == '#');
  CHECK(copy_text(text, nullptr, 0) == text.size());
  CHECK(copy_text(text, nullptr, 8) == text.size());
}

namespace {

// A struct as three versions of a library know it.
struct First {
  uint32_t struct_size;
  int32_t a;
};
struct Second {
  uint32_t struct_size;
  int32_t a;
  int32_t b;
};
struct Third {
  uint32_t struct_size;
  int32_t a;
  int32_t b;
  int32_t c;
};

}  // namespace

TEST_CASE("options of an older caller keep the defaults of what it lacks", "[capi]") {
  const First given = {sizeof(First), 5};
  Second read = {sizeof(Second), 1, 2};
  read_struct("options", &given, sizeof(First), &read, sizeof read);
  CHECK(read.a == 5);
  CHECK(read.b == 2);
}

TEST_CASE("options of a newer caller are read when what is unknown is 0", "[capi]") {
  Third given = {sizeof(Third), 5, 6, 0};
  Second read = {sizeof(Second), 1, 2};
  read_struct("options", &given, sizeof(First), &read, sizeof read);
  CHECK(read.a == 5);
  CHECK(read.b == 6);

  given.c = 256;
  Second kept = {sizeof(Second), 1, 2};
  test::require_error(StatusCode::bad_argument, "options: byte 13 is 1; 0 is allowed",
                      [&] { read_struct("options", &given, sizeof(First), &kept, sizeof kept); });
  CHECK(kept.a == 1);
}

TEST_CASE("a struct_size that no version had is refused", "[capi]") {
  Second read = {sizeof(Second), 1, 2};
  for (const uint32_t size : {0u, 4u, 7u, kMaxStructBytes + 1, 0xFFFFFFFFu}) {
    std::vector<uint32_t> given(2 + kMaxStructBytes / 4);
    given[0] = size;
    test::require_error(StatusCode::bad_argument,
                        "options.struct_size: " + std::to_string(size) + " is not allowed", [&] {
                          read_struct("options", given.data(), sizeof(First), &read, sizeof read);
                        });
    test::require_error(StatusCode::bad_argument, "8 to 4096", [&] {
      write_struct("info", &read, sizeof(First), given.data(), sizeof read);
    });
  }
}

TEST_CASE("a result struct is written as far as both sides know it", "[capi]") {
  const Second result = {0, 5, 6};
  Third newer = {sizeof(Third), -1, -1, -1};
  write_struct("info", &result, sizeof(First), &newer, sizeof result);
  CHECK(newer.struct_size == sizeof(Third));
  CHECK(newer.a == 5);
  CHECK(newer.b == 6);
  CHECK(newer.c == 0);

  Second older = {sizeof(First), -1, -1};
  write_struct("info", &result, sizeof(First), &older, sizeof result);
  CHECK(older.struct_size == sizeof(First));
  CHECK(older.a == 5);
  CHECK(older.b == -1);
}
