// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * C functions of indexes. `index` is a handle; n and nq are numbers of rows that the slices have,
 * which the caller has checked; options may be null.
 */
final class NativeIndex {
  static {
    NativeLibrary.load();
  }

  private NativeIndex() {}

  static native long create(byte[] description, int dim, int metric);

  static native void destroy(long index);

  static native void train(long index, long n, Slice x, WorkOptions options);

  static native void trainWithCentroids(
      long index, long nlist, Slice centroids, long n, Slice x, WorkOptions options);

  static native void add(long index, long n, Slice x, WorkOptions options);

  static native void addWithIds(long index, long n, Slice x, Slice ids, WorkOptions options);

  static native void addToLists(
      long index, long n, Slice x, Slice ids, Slice lists, WorkOptions options);

  static native void update(long index, long n, Slice ids, Slice x, WorkOptions options);

  static native void upsert(long index, long n, Slice ids, Slice x, WorkOptions options);

  static native long remove(long index, long n, Slice ids);

  static native long removeFiltered(long index, Filter filter);

  static native void merge(long index, long other, WorkOptions options);

  static native void setNprobe(long index, long nprobe);

  static native long copy(long index);

  static native void search(
      long index, long nq, Slice queries, long k, SearchOptions options, Slice scores, Slice ids);

  static native RangeResult rangeSearch(
      long index, long nq, Slice queries, float radius, SearchOptions options);

  static native byte[] explain(long index, long nq, long k, SearchOptions options);

  static native byte[] description(long index);

  /** Fills dim, metric, is_trained, ntotal. */
  static native void info(long index, long[] filled);

  static native long ntotal(long index);

  static native boolean isTrained(long index);

  static native long nlist(long index);

  static native long nprobe(long index);

  static native long codeSize(long index);

  static native long memoryBytes(long index);

  static native void reconstruct(long index, long id, Slice x);

  static native void save(long index, byte[] path, boolean verify);

  static native void write(long index, OutputStream stream) throws IOException;

  static native long load(byte[] path, LoadOptions options);

  static native long read(InputStream stream, LoadOptions options) throws IOException;

  static native void verify(long index);
}
