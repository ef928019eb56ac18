// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/**
 * Copies of indexes on devices that are none, those of tests/capi/plain_devices.h: arguments,
 * places and ends of calls on GPUs, without one. Run where POLARQUANT_CUDA_LIBRARY names them.
 */
final class PlainDevicesTest {
  static final boolean HAS_PLAIN_DEVICES =
      String.valueOf(System.getenv("POLARQUANT_CUDA_LIBRARY")).contains("plain_devices");
  private static final int DIM = 128;
  private final float[] x = Rows.random(17, 1500, DIM);

  @Test
  void copiesAnswerWhereverTheyAre() {
    if (!HAS_PLAIN_DEVICES) {
      return;
    }
    Expect.equal(CudaDevice.all().size(), 3);
    Expect.thrown(PolarException.BadArgument.class, () -> CudaDevice.get(3));
    CudaOptions one = CudaOptions.DEFAULT.withDevice(2).withNumThreads(1);
    CudaOptions shards = CudaOptions.DEFAULT.withDevices(CudaOptions.Layout.SHARDED, 0, 1, 2);
    CudaOptions copies = CudaOptions.DEFAULT.withDevices(CudaOptions.Layout.REPLICATED, 1, 1);
    FloatBuffer queries = FloatBuffer.wrap(x, 0, 20 * DIM);
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.addWithIds(x, Rows.ids(7000, 1500));
      try (CudaIndex single = CudaIndex.of(index, one);
           PreparedFilter some = Filter.range(7100, 7200).prepare()) {
        Expect.equal(single.ntotal(), 1500);
        Expect.equal(single.dim(), DIM);
        Expect.isTrue(single.memoryBytes() >= 0, "memory");
        for (CudaOptions options : new CudaOptions[] {shards, copies}) {
          try (CudaIndex placed = CudaIndex.of(index, options)) {
            SearchOptions plain = SearchOptions.DEFAULT;
            for (SearchOptions how : new SearchOptions[] {plain, plain.withFilter(some)}) {
              SearchResult wanted = single.search(queries, 6, how);
              SearchResult found = placed.search(Rows.direct(x).limit(20 * DIM), 6, how);
              Expect.equal(found.ids(), wanted.ids());
              Expect.equal(found.scores(), wanted.scores());
              Expect.isTrue(found.id(0) >= 7000, "ids of the caller's");
            }
          }
        }
        Expect.thrown(PolarException.Unsupported.class,
            () -> single.search(queries, 1, SearchOptions.DEFAULT.withEfSearch(3)));
        Expect.thrown(PolarException.BadArgument.class,
            () -> single.search(queries, 0, SearchOptions.DEFAULT));
        single.close();
        Expect.thrown(IllegalStateException.class, single::ntotal, "CudaIndex: is closed");
      }
    }
  }

  @Test
  void codesAreCopiedToo() {
    if (!HAS_PLAIN_DEVICES) {
      return;
    }
    try (Codec codec = new Codec("Polar4", DIM, Metric.INNER_PRODUCT)) {
      ByteBuffer codes = ByteBuffer.wrap(codec.encode(x));
      try (CudaIndex index = CudaIndex.of(codec, codes, 1500, CudaOptions.DEFAULT)) {
        Expect.equal(index.ntotal(), 1500);
        Expect.equal(index.search(x, 2).queries(), 1500);
      }
      Class<PolarException.BadArgument> bad = PolarException.BadArgument.class;
      Expect.thrown(bad, () -> CudaIndex.of(codec, codes, 1501, CudaOptions.DEFAULT));
      Expect.thrown(bad, () -> CudaIndex.of(codec, codes, 1500, CudaOptions.DEFAULT.withDevice(3)));
      Expect.thrown(bad,
          ()
              -> CudaIndex.of(codec, codes, 1500,
                  CudaOptions.DEFAULT.withDevices(CudaOptions.Layout.SHARDED, new int[65])));
    }
  }
}
