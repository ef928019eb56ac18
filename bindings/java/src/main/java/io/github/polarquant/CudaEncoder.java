// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/**
 * What encoding needs of a trained codec, in a GPU's memory. Immutable; any number of threads may
 * encode. Rows and codes are in the host's memory.
 */
public final class CudaEncoder implements AutoCloseable {
  private final Use use;
  private final int dim;

  /**
   * Copies a codec: "Polar0.5" to "Polar5" of more than 64 dimensions, rotated as they are by
   * default or with "-norot".
   *
   * @param codec may change, or go, afterwards
   * @param device its place in {@link CudaDevice#all}
   * @throws PolarException.Unsupported for other codecs, and without a device
   */
  public CudaEncoder(Codec codec, int device) {
    long handle = codec.use().read(from -> NativeCuda.createEncoder(from, device));
    use = Use.shared(this, "CudaEncoder", handle, NativeCuda::destroyEncoder);
    dim = codec.dim();
  }

  /**
   * Codes rows: the bytes of {@link Codec#encode(FloatBuffer, ByteBuffer, WorkOptions)}.
   *
   * @param x (n, dim)
   * @param codes n codes are written from its position to its limit
   */
  public void encode(FloatBuffer x, ByteBuffer codes) {
    Slice rows = Slice.of(x);
    Slice to = Slice.ofOutput("codes", codes);
    long n = Shapes.rows("x", rows, dim);
    use.run(encoder -> NativeCuda.encode(encoder, n, rows, to));
  }

  /** Gives the memory back, once no call runs. Can be called more than once. */
  @Override
  public void close() {
    use.close();
  }
}
