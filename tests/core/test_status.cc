// SPDX-License-Identifier: MIT
#include "src/core/status.h"

#include "include/polarquant/polarquant.h"
#include "tests/support/catch.h"

using polarquant::Error;
using polarquant::StatusCode;

TEST_CASE("status codes have the ABI's numbers and plain names", "[core]") {
  struct Row {
    StatusCode code;
    int number;
    const char* name;
  };
  const Row rows[] = {
      {StatusCode::ok, POLAR_OK, "ok"},
      {StatusCode::bad_argument, POLAR_ERROR_BAD_ARGUMENT, "bad argument"},
      {StatusCode::unsupported, POLAR_ERROR_UNSUPPORTED, "unsupported"},
      {StatusCode::not_trained, POLAR_ERROR_NOT_TRAINED, "not trained"},
      {StatusCode::not_found, POLAR_ERROR_NOT_FOUND, "not found"},
      {StatusCode::state_mismatch, POLAR_ERROR_STATE_MISMATCH, "state mismatch"},
      {StatusCode::out_of_memory, POLAR_ERROR_OUT_OF_MEMORY, "out of memory"},
      {StatusCode::corrupt_data, POLAR_ERROR_CORRUPT_DATA, "corrupt data"},
      {StatusCode::newer_format, POLAR_ERROR_NEWER_FORMAT, "newer format"},
      {StatusCode::io, POLAR_ERROR_IO, "input/output error"},
      {StatusCode::cuda, POLAR_ERROR_CUDA, "CUDA error"},
      {StatusCode::cancelled, POLAR_ERROR_CANCELLED, "cancelled"},
      {StatusCode::internal, POLAR_ERROR_INTERNAL, "internal error"},
  };
  for (const Row& row : rows) {
    CHECK(static_cast<int>(row.code) == row.number);
    CHECK(std::string(polarquant::status_name(row.code)) == row.name);
  }
  CHECK(std::string(polarquant::status_name(static_cast<StatusCode>(7))) == "unknown status");
  CHECK(std::string(polarquant::status_name(static_cast<StatusCode>(-1))) == "unknown status");
}

TEST_CASE("require throws its code and text only when the condition fails", "[core]") {
  polarquant::require(true, StatusCode::bad_argument, "k is {}", 0);
  try {
    polarquant::require(false, StatusCode::bad_argument, "k is {}; {} or more", 0, 1);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == StatusCode::bad_argument);
    CHECK(std::string(error.what()) == "k is 0; 1 or more");
  }
}
