// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** C functions of codes in blocks. `codec` and `blocks` are handles; options may be null. */
final class NativeBlocks {
  static {
    NativeLibrary.load();
  }

  private NativeBlocks() {}

  static native long create(long codec);

  static native void destroy(long blocks);

  static native long rows(long blocks);

  static native long memoryBytes(long blocks);

  static native void append(long codec, long blocks, long n, Slice codes);

  static native void get(long codec, long blocks, long first, long count, Slice codes);

  static native void overwrite(long codec, long blocks, long row, Slice code);

  /** removed: a bit for each row. */
  static native void remove(long codec, long blocks, Slice removed);

  static native void swapRemove(long codec, long blocks, long row);

  static native void search(long codec, long blocks, long nq, Slice queries, long k,
      SearchOptions options, Slice scores, Slice ids);

  static native RangeResult rangeSearch(
      long codec, long blocks, long nq, Slice queries, float radius, SearchOptions options);
}
