// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Arrays;

/** Every kind of buffer that Java has gives the same answers, or is refused. */
final class BufferTest {
  private static final int DIM = 64;
  private final float[] x = Rows.random(9, 1100, DIM);

  @Test
  void queriesOfEveryKind() {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.add(Rows.direct(x), WorkOptions.DEFAULT);
      long[] wanted = index.search(Rows.row(x, 5, DIM), 4).ids();
      FloatBuffer direct = Rows.direct(x);
      direct.position(5 * DIM).limit(6 * DIM);
      FloatBuffer wrapped = FloatBuffer.wrap(x);
      wrapped.position(5 * DIM).limit(6 * DIM);
      ByteBuffer bytes = ByteBuffer.allocate(4 * DIM);
      bytes.asFloatBuffer().put(Rows.row(x, 5, DIM));
      FloatBuffer[] kinds = {
          direct, direct.slice(), direct.duplicate().asReadOnlyBuffer(), wrapped, wrapped.slice(),
          wrapped.asReadOnlyBuffer(),
          bytes.asFloatBuffer() // big-endian, of bytes
      };
      for (FloatBuffer queries : kinds) {
        int position = queries.position();
        int limit = queries.limit();
        Expect.equal(index.search(queries, 4, SearchOptions.DEFAULT).ids(), wanted);
        Expect.equal(queries.position(), position);
        Expect.equal(queries.limit(), limit);
      }
    }
  }

  @Test
  void resultsGoWhereTheyAreWanted() {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.add(x);
      FloatBuffer queries = FloatBuffer.wrap(x, 0, 3 * DIM);
      SearchResult wanted = index.search(queries, 5, SearchOptions.DEFAULT);
      FloatBuffer scores = Rows.directFloats(20);
      LongBuffer ids = Rows.directLongs(20);
      scores.position(5);
      ids.position(5);
      index.search(queries, 5, SearchOptions.DEFAULT, scores, ids);
      for (int i = 0; i < 15; ++i) {
        Expect.equal(ids.get(5 + i), wanted.ids()[i]);
        Expect.equal(scores.get(5 + i), wanted.scores()[i]);
      }
      Expect.equal(ids.get(4), 0);
      long[] heap = new long[17];
      index.search(queries, 5, SearchOptions.DEFAULT, FloatBuffer.allocate(15),
          LongBuffer.wrap(heap, 1, 15));
      Expect.equal(Arrays.copyOfRange(heap, 1, 16), wanted.ids());
      Expect.equal(heap[0] + heap[16], 0);
      Expect.thrown(ReadOnlyBufferException.class,
          () -> index.search(queries, 5, SearchOptions.DEFAULT, scores.asReadOnlyBuffer(), ids));
      Expect.thrown(PolarException.BadArgument.class,
          () -> index.search(queries, 4, SearchOptions.DEFAULT, scores, ids), "scores");
      FloatBuffer view = ByteBuffer.allocate(60).asFloatBuffer();
      Expect.thrown(PolarException.BadArgument.class,
          () -> index.search(queries, 5, SearchOptions.DEFAULT, view, ids), "direct");
    }
  }

  @Test
  void wrongDirectBuffersAreRefused() {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      ByteBuffer bytes = ByteBuffer.allocateDirect(4 * DIM + 4);
      Expect.thrown(PolarException.BadArgument.class,
          () -> index.add(bytes.asFloatBuffer(), WorkOptions.DEFAULT), "LITTLE_ENDIAN");
      bytes.order(ByteOrder.nativeOrder()).position(1).limit(4 * DIM + 1);
      FloatBuffer uneven = bytes.slice().order(ByteOrder.nativeOrder()).asFloatBuffer();
      Expect.thrown(PolarException.BadArgument.class,
          () -> index.add(uneven, WorkOptions.DEFAULT), "multiple");
      Expect.equal(index.ntotal(), 0);
    }
  }

  @Test
  void noRowsAreRows() {
    try (Index index = new Index("Polar4", DIM, Metric.L2);
         Codec codec = new Codec("Polar4", DIM, Metric.L2);
         CodeBlocks blocks = new CodeBlocks(codec, new byte[0])) {
      for (FloatBuffer none : new FloatBuffer[] {FloatBuffer.allocate(0), Rows.directFloats(0)}) {
        index.add(none, WorkOptions.DEFAULT);
        Expect.equal(index.search(none, 3, SearchOptions.DEFAULT).ids().length, 0);
        Expect.equal(index.rangeSearch(none, 1, SearchOptions.DEFAULT).lims(), new long[1]);
        codec.encode(none, ByteBuffer.allocateDirect(0), WorkOptions.DEFAULT);
        Expect.equal(blocks.search(none, 3, SearchOptions.DEFAULT).queries(), 0);
      }
      Expect.equal(codec.encode(new float[0]), new byte[0]);
      Expect.equal(codec.decode(new byte[0]), new float[0]);
      Expect.equal(codec.search(Rows.row(x, 0, DIM), new byte[0], 1).id(0), -1);
      Expect.equal(blocks.search(Rows.row(x, 0, DIM), 1).id(0), -1);
      Expect.equal(index.remove(new long[0]), 0);
      Expect.thrown(PolarException.BadArgument.class, () -> index.train(new float[0]));
    }
  }

  @Test
  void codesOfEveryKind() {
    try (Codec codec = new Codec("Polar4", DIM, Metric.INNER_PRODUCT)) {
      byte[] codes = codec.encode(x);
      ByteBuffer direct = ByteBuffer.allocateDirect(codes.length + 3);
      direct.position(3);
      codec.encode(Rows.direct(x), direct, WorkOptions.DEFAULT);
      byte[] copy = new byte[codes.length];
      direct.duplicate().get(copy);
      Expect.equal(copy, codes);
      FloatBuffer query = FloatBuffer.wrap(x, 5 * DIM, DIM);
      long[] wanted = codec.search(Rows.row(x, 5, DIM), codes, 4).ids();
      ByteBuffer wrapped = ByteBuffer.wrap(codes);
      SearchOptions told = SearchOptions.DEFAULT.withProgress(done -> true);
      for (ByteBuffer kind : new ByteBuffer[] {direct, wrapped, wrapped.asReadOnlyBuffer()}) {
        for (SearchOptions options : new SearchOptions[] {SearchOptions.DEFAULT, told}) {
          Expect.equal(codec.search(query, kind, 1100, 4, options).ids(), wanted);
        }
      }
      FloatBuffer decoded = Rows.directFloats(x.length);
      codec.decode(direct, 1100, Reconstruction.LEAST_ERROR, decoded, WorkOptions.DEFAULT);
      float[] array = new float[x.length];
      decoded.get(array);
      Expect.equal(array, codec.decode(codes));
    }
  }
}
