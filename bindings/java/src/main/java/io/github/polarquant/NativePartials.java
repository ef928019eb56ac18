// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** C functions of parts of an index that are searched apart. `index` is a handle. */
final class NativePartials {
  static {
    NativeLibrary.load();
  }

  private NativePartials() {}

  static native byte[] search(
      long index, long firstRow, long nq, Slice queries, long k, SearchOptions options);

  /** No partial is null. */
  static native void merge(byte[][] partials, long nq, long k, Slice scores, Slice ids);
}
