// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;

/** Rows, ids and buffers that tests need. */
final class Rows {
  private Rows() {}

  static float[] random(int seed, int n, int dim) {
    Random random = new Random(seed);
    float[] x = new float[n * dim];
    for (int i = 0; i < x.length; ++i) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }

  static float[] row(float[] x, int row, int dim) {
    return Arrays.copyOfRange(x, row * dim, (row + 1) * dim);
  }

  static long[] ids(long first, int n) {
    return LongStream.range(first, first + n).toArray();
  }

  static FloatBuffer directFloats(int count) {
    return ByteBuffer.allocateDirect(count * 4).order(ByteOrder.nativeOrder()).asFloatBuffer();
  }

  static FloatBuffer direct(float[] x) {
    FloatBuffer buffer = directFloats(x.length).put(x);
    buffer.flip();
    return buffer;
  }

  static LongBuffer directLongs(int count) {
    return ByteBuffer.allocateDirect(count * 8).order(ByteOrder.nativeOrder()).asLongBuffer();
  }
}
