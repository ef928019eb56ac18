// SPDX-License-Identifier: MIT
// What every codec of the spec table implements: turning rotated, centred vectors into bytes and
// back. Rotation, centre, unit, factors, scores and files are the Codec's (codec.h), once for all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/codec/code_description.h"
#include "src/codec/short_float.h"
#include "src/core/byte_stream.h"

namespace polarquant {

struct CodecKernels;

class Quantizer {
 public:
  /// direction: gets u = √dim · R(x−c)/‖x−c‖, and the codec stores two factors after each code.
  /// vector: gets R(x−c)/unit and keeps lengths itself; no factors.
  enum class Input { direction, vector };

  virtual ~Quantizer() = default;

  virtual Input input() const = 0;
  /// Rows that share one code: 1, or the group of PolarPair…g128. A full group of rows makes one
  /// code of code_bytes(); rows of an unfinished group are kept by the codec in full precision.
  virtual int group_rows() const { return 1; }
  /// Bytes of one code (of group_rows() rows), factors not counted.
  virtual size_t code_bytes() const = 0;
  /// Where which numbers lie in a code; of what training has found so far.
  virtual CodeDescription describe() const = 0;
  /// Error per dimension of û against u on the unit Gaussian (the D of docs/codec.md); 0 for
  /// quantizers of vectors, which have no factors to correct by it.
  virtual double mse() const { return 0; }
  /// How many of the `dim` coordinates, from the first on, a row's scale is for: s makes the
  /// estimate of an inner product over these unbiased.
  virtual int scaled_dims(int dim) const { return dim; }

  /// Codes `v`, (group_rows(), dim) row-major, into code_bytes() bytes; padding bits are 0. Throws
  /// bad_argument for a vector it cannot hold, the text without the row's number. Thread-safe.
  virtual void encode(const float* v, uint8_t* code) const = 0;
  /// Decodes row `row` of a group's code (0 when group_rows() is 1) into y, (dim). Any bytes are a
  /// valid code. Thread-safe.
  virtual void decode(const uint8_t* code, int row, float* y) const = 0;

  /// Both at once, for one row a code.
  virtual void encode_and_decode(const float* v, uint8_t* code, float* y) const {
    encode(v, code);
    decode(code, 0, y);
  }

  /// Whether encode must wait for train().
  virtual bool needs_training() const { return false; }
  virtual bool is_trained() const { return true; }
  /// Learns tables from n ≥ 1 rotated, centred, scaled rows, (n, dim); called once.
  virtual void train(int64_t n, const float* v, uint64_t seed) { (void)n, (void)v, (void)seed; }
  /// Trained tables, as part of the codec's state; loading checks every value.
  virtual void save_tables(ByteWriter& out) const { (void)out; }
  virtual void load_tables(ByteReader& in) { (void)in; }
  /// Whether codes have 16-bit floats of the quantizer's own, and which form it writes from now on.
  virtual bool has_short_floats() const { return false; }
  virtual void set_short_float(ShortFloat form) { (void)form; }
  /// Takes those of `kernels` that this quantizer can use.
  virtual void use_kernels(const CodecKernels& kernels) { (void)kernels; }
  /// Memory of this quantizer's own tables.
  virtual size_t memory_bytes() const = 0;
};

}  // namespace polarquant
