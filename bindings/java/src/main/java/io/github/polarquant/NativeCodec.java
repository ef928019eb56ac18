// SPDX-License-Identifier: MIT
package io.github.polarquant;

/**
 * C functions of codecs and of codes that the caller keeps. `codec` and `query` are handles; n, na,
 * nb, nq and nw are numbers of rows that the slices have, which the caller has checked, but for
 * those of codes, which C checks; options may be null.
 */
final class NativeCodec {
  static {
    NativeLibrary.load();
  }

  private NativeCodec() {}

  static native long create(byte[] spec, int dim, int metric, long seed, Slice centre,
      boolean learnCentre, double normUnit);

  static native void destroy(long codec);

  /**
   * Fills dim, metric, is_trained, state_origin, group_rows, seed, code_bytes, factor_bytes,
   * tail_row_bytes, state_id; and bits_per_dim, mse, centre_norm, norm_unit.
   */
  static native void info(long codec, long[] whole, double[] real);

  static native byte[] spec(long codec);

  static native void centre(long codec, Slice centre);

  static native long memoryBytes(long codec);

  static native void train(long codec, long n, Slice x, WorkOptions options);

  /** has_basis, error, untrained_error, then first, dim, bits, scale of each segment. */
  static native double[] plan(long codec);

  static native double drift(long codec, long n, Slice x, WorkOptions options);

  static native long encodedBytes(long codec, long n);

  static native void encode(long codec, long n, Slice x, Slice codes, WorkOptions options);

  static native void decode(
      long codec, long n, Slice codes, int kind, Slice x, WorkOptions options);

  static native byte[] saveState(long codec);

  static native long loadState(Slice state);

  static native void checkSameState(long codec, long other);

  static native long prepareQuery(long codec, Slice q);

  static native long prepareQueryFromCode(long codec, long n, Slice codes, long row);

  static native void destroyQuery(long query);

  static native void score(
      long codec, long query, long n, Slice codes, Slice scores, WorkOptions options);

  static native void scoreCodes(
      long codec, long na, Slice a, long nb, Slice b, Slice scores, WorkOptions options);

  static native void combine(
      long codec, long n, Slice codes, long nw, Slice weights, Slice out, WorkOptions options);

  static native void search(long codec, long nq, Slice queries, long n, Slice codes, long k,
      SearchOptions options, Slice scores, Slice ids);

  static native RangeResult rangeSearch(
      long codec, long nq, Slice queries, long n, Slice codes, float radius, SearchOptions options);
}
