// SPDX-License-Identifier: MIT
#include "src/capi/exception_wall.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "src/capi/error_text.h"
#include "src/core/status.h"

#ifdef POLARQUANT_HAS_FAISS
#include "src/capi/faiss_text.h"
#include "src/faiss/foreign/faiss_error.h"
#endif

namespace polarquant::capi {
namespace {

#ifdef POLARQUANT_HAS_FAISS
/// Texts of ours have FAISS's in them.
std::string plain_text(const char* text) { return without_faiss_places(text); }
#else
const char* plain_text(const char* text) { return text; }
#endif

polar_status keep(polar_status status, const char* text) noexcept {
  try {
    set_last_error(plain_text(text));
  } catch (const std::bad_alloc&) {
    set_last_error(text);
  }
  return status;
}

}  // namespace

polar_status status_of_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return keep(static_cast<polar_status>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return keep(POLAR_ERROR_OUT_OF_MEMORY, "an allocation failed");
  } catch (const std::length_error&) {
    // What the containers throw for a size beyond max_size(): bad_alloc by another name.
    return keep(POLAR_ERROR_OUT_OF_MEMORY, "an allocation failed: it is larger than memory can be");
#ifdef POLARQUANT_HAS_FAISS
  } catch (const FaissError& error) {
    return keep(static_cast<polar_status>(error.code()), error.what());
  } catch (const ::faiss::FaissException& error) {
    return keep(POLAR_ERROR_BAD_ARGUMENT, error.what());
#endif
  } catch (const std::exception& error) {
    return keep(POLAR_ERROR_INTERNAL, error.what());
  } catch (...) {
    return keep(POLAR_ERROR_INTERNAL, "an exception of an unknown type");
  }
}

}  // namespace polarquant::capi
