// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/**
 * Codes in the memory of one GPU or several, searched there: the CPU's rows and scores, to the bit.
 * Immutable; any number of threads may search. Queries and results are in the host's memory.
 */
public final class CudaIndex implements AutoCloseable {
  private final Use use;
  private final int dim;

  private CudaIndex(long handle, int dim) {
    use = Use.shared(this, "CudaIndex", handle, NativeCuda::destroyIndex);
    this.dim = dim;
  }

  /**
   * Copies an index that is one of "Polar0.5" to "Polar8" or a residual code, alone or in an
   * inverted file ("IVF1024,Polar4").
   *
   * @param index may change, or go, afterwards
   * @param options where to
   * @return a new index, to be closed
   * @throws PolarException.Unsupported for other indexes, and without a device
   */
  public static CudaIndex of(Index index, CudaOptions options) {
    int layout = options.layout.ordinal();
    long made = index.use().read(from
        -> NativeCuda.indexFromIndex(
            from, options.numThreads, options.device, options.devices, layout));
    return new CudaIndex(made, index.dim());
  }

  /**
   * Copies codes of yours; rows have their positions as ids.
   *
   * @param codec whose codes they are
   * @param codes of n rows
   * @param n rows
   * @param options where to
   * @return a new index, to be closed
   * @throws PolarException.Unsupported for codecs without blocks, and without a device
   */
  public static CudaIndex of(Codec codec, ByteBuffer codes, long n, CudaOptions options) {
    Slice given = Slice.of(codes);
    int layout = options.layout.ordinal();
    long made = codec.use().read(from
        -> NativeCuda.indexFromCodes(
            from, n, given, options.numThreads, options.device, options.devices, layout));
    return new CudaIndex(made, codec.dim());
  }

  /**
   * Dimensions of a vector.
   *
   * @return 1 to 65535
   */
  public int dim() {
    return dim;
  }

  /**
   * Rows held.
   *
   * @return their number
   */
  public long ntotal() {
    return use.read(NativeCuda::ntotal);
  }

  /**
   * Memory of all its devices: codes, tables, and what searches keep to work in.
   *
   * @return the bytes
   */
  public long memoryBytes() {
    return use.read(NativeCuda::memoryBytes);
  }

  /**
   * Finds the k nearest rows of each query, on the device.
   *
   * @param queries (nq, dim)
   * @param k 1 or more
   * @return scores and ids, (nq, k)
   */
  public SearchResult search(float[] queries, int k) {
    return search(FloatBuffer.wrap(queries), k, SearchOptions.DEFAULT);
  }

  /**
   * Finds the k nearest rows of each query, on the device.
   *
   * @param queries (nq, dim)
   * @param k 1 or more
   * @param options filter, exactness and, for an inverted file, nprobe; a listener is not called
   * @return scores and ids, (nq, k); where there are fewer rows, id −1
   */
  public SearchResult search(FloatBuffer queries, int k, SearchOptions options) {
    Slice q = Slice.of(queries);
    long nq = Shapes.rows("queries", q, dim);
    int length = Shapes.length("k", nq, k);
    float[] scores = new float[length];
    long[] ids = new long[length];
    SearchOptions given = SearchOptions.forC(options);
    use.search(
        given, index -> NativeCuda.search(index, nq, q, k, given, Slice.of(scores), Slice.of(ids)));
    return new SearchResult(k, scores, ids);
  }

  /** Gives the memory back, once no call runs. Can be called more than once. */
  @Override
  public void close() {
    use.close();
  }
}
