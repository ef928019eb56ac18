// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** C functions of advice. Texts are UTF-8. */
final class NativeAdvice {
  static {
    NativeLibrary.load();
  }

  private NativeAdvice() {}

  /**
   * whole: num_threads, seed, k, max_rows, max_queries, total_rows; real: wanted_recall,
   * allowed_bytes; specs and progress may be null.
   */
  static native long create(int dim, int metric, long n, Slice x, long nq, Slice queries,
      long[] whole, double[] real, byte[][] specs, Progress progress);

  static native void destroy(long advice);

  /** The reason; fills held_out_queries, rows, recommended, queries, base_rows, train_rows. */
  static native byte[] info(long advice, long[] filled);

  /** Fills spec and problem, and the numbers in the order of AdviceRow's constructor. */
  static native void row(long advice, long row, byte[][] texts, double[] filled);
}
