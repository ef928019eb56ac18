// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** C functions of GPUs. devices may be null, for one; options may be null. */
final class NativeCuda {
  static {
    NativeLibrary.load();
  }

  private NativeCuda() {}

  static native int deviceCount();

  /** The name; fills compute_major, compute_minor, multiprocessors, total_bytes, free_bytes. */
  static native byte[] deviceInfo(int device, long[] filled);

  static native long indexFromIndex(
      long index, int numThreads, int device, int[] devices, int layout);

  static native long indexFromCodes(
      long codec, long n, Slice codes, int numThreads, int device, int[] devices, int layout);

  static native void destroyIndex(long index);

  static native void search(
      long index, long nq, Slice queries, long k, SearchOptions options, Slice scores, Slice ids);

  static native long ntotal(long index);

  static native long memoryBytes(long index);

  static native long createEncoder(long codec, int device);

  static native void destroyEncoder(long encoder);

  static native void encode(long encoder, long n, Slice x, Slice codes);

  static native long createCodec(long codec, int numThreads, int device);

  static native void destroyCodec(long codec);

  static native void score(
      long codec, long heads, long nq, Slice queries, long n, Slice codes, Slice scores);

  static native void combine(
      long codec, long heads, long nw, Slice weights, long n, Slice codes, Slice out);
}
