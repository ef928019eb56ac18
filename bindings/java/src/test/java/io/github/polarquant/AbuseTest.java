// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Paths;

/** Wrong uses end in an exception, never in a crash. */
final class AbuseTest {
  private static final int DIM = 64;
  private static final Class<PolarException.BadArgument> BAD = PolarException.BadArgument.class;
  private static final Class<IllegalStateException> CLOSED = IllegalStateException.class;
  private final float[] x = Rows.random(14, 1100, DIM);

  @Test
  void closedObjectsThrow() {
    Index index = new Index("Polar4", DIM, Metric.L2);
    Index open = new Index("Polar4", DIM, Metric.L2);
    Codec codec = new Codec("Polar4", DIM, Metric.L2);
    byte[] codes = codec.encode(x);
    CodeBlocks blocks = new CodeBlocks(codec, codes);
    CodeBlocks orphans = new CodeBlocks(codec, codes);
    Query query = codec.prepareQuery(Rows.row(x, 0, DIM));
    index.close();
    index.close();
    blocks.close();
    query.close();
    Expect.thrown(CLOSED, () -> codec.score(query, codes), "Query: is closed");
    codec.close();
    codec.close();
    Expect.thrown(CLOSED, () -> index.search(x, 1), "Index: is closed");
    Expect.thrown(CLOSED, () -> index.add(x));
    Expect.thrown(CLOSED, index::ntotal);
    Expect.thrown(CLOSED, index::copy);
    Expect.thrown(CLOSED, () -> index.save(Paths.get("x")));
    Expect.thrown(CLOSED, () -> open.mergeFrom(index, WorkOptions.DEFAULT));
    Expect.thrown(CLOSED, () -> CudaIndex.of(index, CudaOptions.DEFAULT));
    Expect.thrown(CLOSED, () -> codec.encode(x), "Codec: is closed");
    Expect.thrown(CLOSED, () -> codec.train(x));
    Expect.thrown(CLOSED, () -> new CodeBlocks(codec));
    Expect.thrown(CLOSED, () -> orphans.search(Rows.row(x, 0, DIM), 1), "Codec: is closed");
    Expect.thrown(CLOSED, blocks::size, "CodeBlocks: is closed");
    Expect.equal(index.toString(), "Index(closed)");
    Expect.equal(codec.toString(), "Codec(closed)");
    Expect.equal(blocks.toString(), "CodeBlocks(closed)");
    Expect.equal(index.dim(), DIM);
    orphans.close();
    open.close();
  }

  @Test
  void wrongLengthsThrow() {
    try (Index index = new Index("Polar4", DIM, Metric.L2);
         Codec codec = new Codec("Polar4", DIM, Metric.L2)) {
      index.addWithIds(x, Rows.ids(0, 1100));
      byte[] codes = codec.encode(x);
      ByteBuffer buffer = ByteBuffer.wrap(codes);
      Expect.thrown(BAD, () -> index.search(new float[DIM + 1], 1), "multiple of dim");
      Expect.thrown(BAD, () -> index.addWithIds(x, new long[3]), "ids", "1100");
      Expect.thrown(BAD, () -> index.update(new long[2], new float[DIM]), "ids");
      Expect.thrown(BAD, () -> codec.prepareQuery(new float[1]), "q");
      Expect.thrown(BAD, () -> codec.decode(new byte[5]), "codes");
      Expect.thrown(BAD,
          () -> codec.encode(FloatBuffer.wrap(x), ByteBuffer.allocate(3), WorkOptions.DEFAULT));
      FloatBuffer out = FloatBuffer.allocate(DIM);
      Expect.thrown(
          BAD, () -> codec.decode(buffer, 1100, Reconstruction.UNBIASED, out, WorkOptions.DEFAULT));
      Expect.thrown(BAD,
          () -> codec.combine(buffer, 1100, out, FloatBuffer.allocate(1), WorkOptions.DEFAULT));
      Expect.thrown(
          BAD, () -> codec.combine(buffer, 1100, out, out.duplicate(), WorkOptions.DEFAULT));
      for (long n : new long[] {-1, 1101, 1099, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 58}) {
        Expect.thrown(BAD, () -> codec.search(out, buffer, n, 1, SearchOptions.DEFAULT));
        Expect.thrown(BAD, () -> codec.rangeSearch(out, buffer, n, 1, SearchOptions.DEFAULT));
        Expect.thrown(BAD, () -> codec.prepareQueryFromCode(buffer, n, 0));
        Expect.thrown(
            BAD, () -> codec.decode(buffer, n, Reconstruction.UNBIASED, out, WorkOptions.DEFAULT));
      }
      Expect.thrown(BAD, () -> codec.prepareQueryFromCode(buffer, 1100, 1100));
      Expect.thrown(BAD, () -> codec.prepareQueryFromCode(buffer, 1100, -1));
      Expect.thrown(BAD, () -> codec.encodedBytes(-1));
    }
  }

  @Test
  void wrongNumbersThrow() {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.add(x);
      float[] query = Rows.row(x, 0, DIM);
      for (int k : new int[] {0, -1, Integer.MIN_VALUE}) {
        Expect.thrown(BAD, () -> index.search(query, k), "k");
      }
      Expect.thrown(BAD, () -> index.search(x, Integer.MAX_VALUE), "k");
      Expect.thrown(BAD, () -> SearchOptions.DEFAULT.withExactness(Float.NaN), "exactness");
      Expect.thrown(
          BAD, () -> index.search(query, 1, SearchOptions.DEFAULT.withExactness(-1)), "exactness");
      Expect.thrown(
          BAD, () -> index.search(query, 1, SearchOptions.DEFAULT.withNumThreads(-1)), "threads");
      Expect.thrown(
          BAD, () -> index.search(query, 1, SearchOptions.DEFAULT.withNprobe(-1)), "nprobe");
      Expect.thrown(
          BAD, () -> index.rangeSearch(query, Float.NaN, SearchOptions.DEFAULT), "radius");
      query[3] = Float.NaN;
      Expect.thrown(BAD, () -> index.search(query, 1), "row 0");
      Expect.thrown(BAD, () -> index.add(query), "row 0");
      query[3] = Float.POSITIVE_INFINITY;
      Expect.thrown(BAD, () -> index.add(query), "row 0");
      Expect.equal(index.ntotal(), 1100);
    }
  }

  @Test
  void wrongNamesThrow() {
    Expect.thrown(BAD, () -> new Index("Polar\0", DIM, Metric.L2), "zero");
    Expect.thrown(BAD, () -> new Index("", DIM, Metric.L2));
    Expect.thrown(BAD,
        ()
            -> new Index("Polar4"
                    + "x".repeat(5000),
                DIM, Metric.L2));
    Expect.thrown(BAD, () -> new Index("\ud800", DIM, Metric.L2), "character");
    Expect.thrown(BAD, () -> new Index("Größe€𝄞", DIM, Metric.L2), "Größe€𝄞");
    Expect.thrown(BAD, () -> new Codec("Polar4", -1, Metric.L2), "dim");
    Expect.thrown(PolarException.InputOutput.class, () -> Index.load(Paths.get("/no/such")));
    Expect.thrown(PolarException.InputOutput.class, () -> Index.load(Paths.get("/tmp")));
  }

  @Test
  void nullsThrow() {
    Class<NullPointerException> isNull = NullPointerException.class;
    Expect.thrown(isNull, () -> new Index(null, DIM, Metric.L2));
    Expect.thrown(isNull, () -> new Index("Polar4", DIM, null));
    Expect.thrown(isNull, () -> new CodeBlocks(null));
    Expect.thrown(isNull, () -> Index.load(null));
    Expect.thrown(isNull, () -> Index.read(null, LoadOptions.DEFAULT));
    Expect.thrown(isNull, () -> Codec.loadState(null));
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.add(x);
      Expect.thrown(isNull, () -> index.search((float[]) null, 1));
      Expect.thrown(isNull, () -> index.search(x, 1, null));
      Expect.thrown(isNull, () -> index.add(null));
      Expect.thrown(isNull, () -> index.add(FloatBuffer.wrap(x), null));
      Expect.thrown(isNull, () -> index.write(null));
      Expect.thrown(isNull, () -> index.remove((Filter) null));
      Expect.thrown(isNull, () -> index.mergeFrom(null, WorkOptions.DEFAULT));
    }
  }
}
