// SPDX-License-Identifier: MIT
package io.github.polarquant;

/**
 * C functions of index files in parts. `builder` is a handle; paths end without a zero; memoryBytes
 * 0 is the default; options may be null.
 */
final class NativeBuilder {
  static {
    NativeLibrary.load();
  }

  private NativeBuilder() {}

  static native void mergeFiles(byte[][] paths, byte[] out, WorkOptions options);

  /** A handle of an index, as that of loadEmpty. */
  static native long openShards(byte[][] paths);

  static native long loadEmpty(byte[] path);

  static native long create(long index, byte[] path, long memoryBytes, boolean replace);

  static native long resume(byte[] path, long memoryBytes);

  static native void destroy(long builder);

  static native void add(long builder, long n, Slice x, WorkOptions options);

  static native void addWithIds(long builder, long n, Slice x, Slice ids, WorkOptions options);

  static native void writePart(long builder);

  static native void finish(long builder, WorkOptions options);

  static native int dim(long builder);

  static native long ntotal(long builder);

  static native long written(long builder);
}
