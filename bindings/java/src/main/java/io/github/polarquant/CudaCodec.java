// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/**
 * A trained codec in a GPU's memory, to score and combine codes there, as the heads of attention
 * need it. Immutable; any number of threads may use it. All arrays are in the host's memory.
 */
public final class CudaCodec implements AutoCloseable {
  private final Use use;
  private final int dim;

  /**
   * Copies a codec.
   *
   * @param codec may change, or go, afterwards
   * @param options its device and the host's threads
   * @throws PolarException.Unsupported for "PolarScalar…" by {@link Metric#L2} where dim is no
   *     multiple of 128, and without a device
   */
  public CudaCodec(Codec codec, CudaOptions options) {
    long handle =
        codec.use().read(from -> NativeCuda.createCodec(from, options.numThreads, options.device));
    use = Use.shared(this, "CudaCodec", handle, NativeCuda::destroyCodec);
    dim = codec.dim();
  }

  /**
   * The scores of the n rows of each head for its queries, as {@link Codec#score(Query, byte[])}.
   *
   * @param heads 0 to 65535
   * @param queries (heads, nq, dim)
   * @param codes of the heads, one after the other, n rows each
   * @param n rows of each head
   * @param scores (heads, nq, n) are written from its position to its limit
   */
  public void score(int heads, FloatBuffer queries, ByteBuffer codes, long n, FloatBuffer scores) {
    Slice q = Slice.of(queries);
    long nq = perHead("queries", q.count, heads);
    Shapes.check("scores", scores.remaining(), Shapes.product("scores", heads, nq), n);
    Slice from = Slice.of(codes);
    Slice to = Slice.ofOutput("scores", scores);
    use.run(codec -> NativeCuda.score(codec, heads, nq, q, n, from, to));
  }

  /**
   * Sums of the rows of each head, each by its weight, as {@link Codec#combine}.
   *
   * @param heads 0 to 65535
   * @param weights (heads, nw, n)
   * @param codes of the heads, one after the other, n rows each
   * @param n rows of each head
   * @param out (heads, nw, dim) are written from its position to its limit
   */
  public void combine(int heads, FloatBuffer weights, ByteBuffer codes, long n, FloatBuffer out) {
    long nw = perHead("out", out.remaining(), heads);
    Slice factors = Slice.of(weights);
    Shapes.check("weights", factors.count, Shapes.product("weights", heads, nw), n);
    Slice from = Slice.of(codes);
    Slice to = Slice.ofOutput("out", out);
    use.run(codec -> NativeCuda.combine(codec, heads, nw, factors, n, from, to));
  }

  /** Vectors for each head. */
  private long perHead(String name, long count, int heads) {
    long each = Shapes.product("heads", heads, dim);
    if (each == 0 ? count != 0 : count % each != 0) {
      throw new PolarException.BadArgument(
          name + ": " + count + " numbers are not allowed; a multiple of heads times dim, " + each);
    }
    return each == 0 ? 0 : count / each;
  }

  /** Gives the memory back, once no call runs. Can be called more than once. */
  @Override
  public void close() {
    use.close();
  }
}
