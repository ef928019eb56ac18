// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/** GPUs: the CPU's answers where there is one, the library's error where there is none. */
final class CudaTest {
  private static final int DIM = 128;
  private final float[] x = Rows.random(13, 2000, DIM);

  private static boolean hasDevice() {
    try {
      return !CudaDevice.all().isEmpty();
    } catch (PolarException.Unsupported none) {
      Expect.isTrue(!none.getMessage().isEmpty(), "why not");
      return false;
    }
  }

  @Test
  void withoutADeviceCallsAreUnsupported() {
    if (hasDevice()) {
      return;
    }
    Class<PolarException.Unsupported> unsupported = PolarException.Unsupported.class;
    CudaOptions two = CudaOptions.DEFAULT.withDevices(CudaOptions.Layout.REPLICATED, 0, 0);
    try (Index index = new Index("Polar4", DIM, Metric.L2);
         Codec codec = new Codec("Polar4", DIM, Metric.L2)) {
      index.add(x);
      ByteBuffer codes = ByteBuffer.wrap(codec.encode(x));
      Expect.thrown(unsupported, () -> CudaDevice.get(0));
      Expect.thrown(unsupported, () -> CudaIndex.of(index, CudaOptions.DEFAULT));
      Expect.thrown(unsupported, () -> CudaIndex.of(index, two));
      Expect.thrown(unsupported, () -> CudaIndex.of(codec, codes, 2000, CudaOptions.DEFAULT));
      Expect.thrown(unsupported, () -> new CudaEncoder(codec, 0));
      Expect.thrown(unsupported, () -> new CudaCodec(codec, CudaOptions.DEFAULT));
    }
  }

  @Test
  void aDeviceAnswersAsTheCpuDoes() {
    if (!hasDevice() || PlainDevicesTest.HAS_PLAIN_DEVICES) {
      return;
    }
    CudaDevice device = CudaDevice.get(0);
    Expect.isTrue(device.totalBytes() >= device.freeBytes() && !device.name().isEmpty(), "device");
    Expect.isTrue(device.multiprocessors() > 0, device.computeCapability());
    FloatBuffer queries = FloatBuffer.wrap(x, 0, 10 * DIM);
    try (Index index = new Index("Polar4", DIM, Metric.L2);
         Codec codec = new Codec("Polar4", DIM, Metric.L2)) {
      index.add(x);
      byte[] codes = codec.encode(x);
      try (CudaIndex copy = CudaIndex.of(index, CudaOptions.DEFAULT.withDevice(0));
           CudaIndex coded =
               CudaIndex.of(codec, ByteBuffer.wrap(codes), 2000, CudaOptions.DEFAULT)) {
        SearchResult wanted = index.search(queries, 5, SearchOptions.DEFAULT);
        SearchResult found = copy.search(queries, 5, SearchOptions.DEFAULT);
        Expect.equal(found.ids(), wanted.ids());
        Expect.equal(found.scores(), wanted.scores());
        Expect.equal(copy.ntotal(), 2000);
        Expect.equal(copy.dim(), DIM);
        Expect.isTrue(copy.memoryBytes() > 0, "memory");
        Expect.equal(coded.search(queries, 1, SearchOptions.DEFAULT).id(7, 0), 7);
      }
      try (CudaEncoder encoder = new CudaEncoder(codec, 0)) {
        byte[] made = new byte[codes.length];
        encoder.encode(FloatBuffer.wrap(x), ByteBuffer.wrap(made));
        Expect.equal(made, codes);
      }
      checkCodec(codec, ByteBuffer.wrap(codes));
    }
  }

  /** Two heads of 1000 rows each. */
  private void checkCodec(Codec codec, ByteBuffer codes) {
    try (CudaCodec copy = new CudaCodec(codec, CudaOptions.DEFAULT);
         Query query = codec.prepareQuery(Rows.row(x, 1, DIM))) {
      FloatBuffer scores = FloatBuffer.allocate(2000);
      float[] queries = new float[2 * DIM];
      System.arraycopy(x, DIM, queries, 0, DIM);
      System.arraycopy(x, DIM, queries, DIM, DIM);
      copy.score(2, FloatBuffer.wrap(queries), codes, 1000, scores);
      float[] wanted = codec.score(query, codes.array());
      for (int i = 0; i < 2000; ++i) {
        Expect.isTrue(Math.abs(scores.get(i) - wanted[i]) < 1e-3 * (1 + wanted[i]), "score " + i);
      }
      float[] weights = new float[2000];
      weights[1003] = 1;
      FloatBuffer out = FloatBuffer.allocate(2 * DIM);
      copy.combine(2, FloatBuffer.wrap(weights), codes, 1000, out);
      float[] decoded = codec.decode(codes.array());
      Expect.isTrue(Math.abs(out.get(DIM + 3) - decoded[1003 * DIM + 3]) < 1e-3, "sum");
    }
  }
}
