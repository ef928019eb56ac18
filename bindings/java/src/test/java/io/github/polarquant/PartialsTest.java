// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Parts of an index that are searched apart answer, together, as one index. */
final class PartialsTest {
  private static final int DIM = 32;
  private static final int ROWS = 3000;
  private static final int NQ = 9;

  /** The rows before which parts end; one part is empty. */
  private static final int[] ENDS = {700, 1900, 1900, ROWS};

  private static final Class<PolarException.BadArgument> BAD = PolarException.BadArgument.class;
  private final float[] x = doubledRows();
  private final float[] queries = Rows.random(42, NQ, DIM);

  /** Each row is there twice, for ties. */
  private static float[] doubledRows() {
    float[] half = Rows.random(41, ROWS / 2, DIM);
    float[] both = Arrays.copyOf(half, 2 * half.length);
    System.arraycopy(half, 0, both, half.length, half.length);
    return both;
  }

  /** An index and its parts, each with the rows before it. */
  private final class Parts implements AutoCloseable {
    final Index whole;
    final List<Index> parts = new ArrayList<>();

    /** ids: null for positions. */
    Parts(String description, Metric metric, long[] ids) {
      try (Index trained = new Index(description, DIM, metric)) {
        trained.train(Arrays.copyOf(x, 2000 * DIM));
        whole = withRows(trained, ids, 0, ROWS);
        for (int part = 0; part < ENDS.length; ++part) {
          parts.add(withRows(trained, ids, firstRow(part), ENDS[part]));
        }
      }
    }

    private Index withRows(Index trained, long[] ids, int first, int end) {
      Index index = trained.copy();
      float[] rows = Arrays.copyOfRange(x, first * DIM, end * DIM);
      if (ids == null) {
        index.add(rows);
      } else {
        index.addWithIds(rows, Arrays.copyOfRange(ids, first, end));
      }
      return index;
    }

    void checkSame(SearchOptions options) {
      for (int k : new int[] {1, 10, 4000}) {
        SearchResult wanted = whole.search(queries, k, options);
        List<byte[]> partials = new ArrayList<>();
        for (int part = 0; part < parts.size(); ++part) {
          FloatBuffer q = part % 2 == 0 ? FloatBuffer.wrap(queries) : Rows.direct(queries);
          partials.add(parts.get(part).searchPartial(firstRow(part), q, k, options));
        }
        SearchResult found = Index.mergePartials(partials, NQ, k);
        Expect.equal(found.queries(), NQ);
        Expect.equal(found.ids(), wanted.ids());
        Expect.equal(found.scores(), wanted.scores());
      }
    }

    @Override
    public void close() {
      whole.close();
      parts.forEach(Index::close);
    }
  }

  private static int firstRow(int part) {
    return part == 0 ? 0 : ENDS[part - 1];
  }

  @Test
  void answersAreThoseOfOneIndex() {
    long[] own = LongStream.range(0, ROWS).map(row -> row * 7919 % 1_000_003).toArray();
    for (long[] ids : new long[][] {null, own}) {
      checkFlat("Polar4", Metric.INNER_PRODUCT, ids);
      checkFlat("Polar2", Metric.COSINE, ids);
      try (Parts parts = new Parts("IVF16,Polar2", Metric.L2, ids)) {
        SearchOptions options = SearchOptions.DEFAULT.withNprobe(5);
        parts.checkSame(options);
        parts.checkSame(options.withExactness(Float.POSITIVE_INFINITY).withNumThreads(2));
      }
    }
  }

  private void checkFlat(String description, Metric metric, long[] ids) {
    long[] named = ids == null ? Rows.ids(0, ROWS) : ids;
    long[] some = IntStream.range(0, ROWS / 7).mapToLong(row -> named[7 * row + 5]).toArray();
    BitSet bits = new BitSet();
    Arrays.stream(some).forEach(id -> bits.set((int) id));
    try (Parts parts = new Parts(description, metric, ids);
         PreparedFilter prepared = Filter.ids(some).prepare()) {
      parts.checkSame(SearchOptions.DEFAULT);
      parts.checkSame(SearchOptions.DEFAULT.withExactness(Float.POSITIVE_INFINITY));
      for (Filter filter : new Filter[] {Filter.ids(some), Filter.bits(bits),
          Filter.range(600, 2500), Filter.predicate(id -> id % 4 == 1), prepared}) {
        parts.checkSame(SearchOptions.DEFAULT.withFilter(filter));
      }
    }
  }

  @Test
  void whatIsRefused() {
    FloatBuffer q = FloatBuffer.wrap(queries);
    SearchOptions plain = SearchOptions.DEFAULT;
    try (Parts parts = new Parts("IVF16,Polar4", Metric.L2, null);
         Index untrained = new Index("IVF16,Polar4", DIM, Metric.L2);
         Index refined = new Index("Polar2,Refine(Polar8)", DIM, Metric.L2);
         Parts flat = new Parts("Polar4", Metric.L2, null)) {
      Index part = parts.parts.get(0);
      Class<PolarException.Unsupported> unsupported = PolarException.Unsupported.class;
      SearchOptions filtered = plain.withFilter(Filter.ids(1, 2));
      Expect.thrown(unsupported, () -> part.searchPartial(0, q, 3, filtered), "options.filter");
      Expect.thrown(BAD, () -> part.searchPartial(0, queries, 0), "k: 0");
      Expect.thrown(BAD, () -> part.searchPartial(-1, queries, 3), "first_row: -1");
      Expect.thrown(BAD, () -> part.searchPartial(0, Rows.random(1, 1, DIM + 1), 3), "queries");
      float[] infinite = new float[DIM];
      infinite[0] = Float.NaN;
      Expect.thrown(BAD, () -> part.searchPartial(0, infinite, 3), "queries");
      Expect.thrown(
          PolarException.NotTrained.class, () -> untrained.searchPartial(0, queries, 3));
      refined.add(Arrays.copyOf(x, 100 * DIM));
      Expect.thrown(unsupported, () -> refined.searchPartial(0, queries, 3));
      Expect.thrown(NullPointerException.class, () -> part.searchPartial(0, (float[]) null, 3));
      byte[] none = part.searchPartial(0, new float[0], 3);
      Expect.equal(Index.mergePartials(Collections.singletonList(none), 0, 3).queries(), 0);
      Filter throwing = Filter.predicate(id -> { throw new IllegalArgumentException("mine"); });
      Expect.thrown(IllegalArgumentException.class,
          () -> flat.whole.searchPartial(0, q, 3, plain.withFilter(throwing)), "mine");
      part.close();
      Expect.thrown(
          IllegalStateException.class, () -> part.searchPartial(0, queries, 3), "closed");
    }
  }

  private static void checkMerge(Class<? extends Throwable> type, int nq, int k, String words,
      byte[]... partials) {
    Expect.thrown(type, () -> Index.mergePartials(Arrays.asList(partials), nq, k), words);
  }

  @Test
  void hostileBytesAreAnError() {
    try (Parts parts = new Parts("Polar4", Metric.L2, null);
         Parts cosine = new Parts("Polar4", Metric.COSINE, null)) {
      byte[] good = parts.parts.get(0).searchPartial(0, queries, 3);
      Class<PolarException.CorruptData> corrupt = PolarException.CorruptData.class;
      for (int length : new int[] {0, 1, 11, 40, good.length - 1}) {
        checkMerge(corrupt, NQ, 3, "partials[1]", good, Arrays.copyOf(good, length));
      }
      checkMerge(corrupt, NQ, 3, "partials[0]", new byte[0]);
      checkMerge(corrupt, NQ, 3, "partials[0]", Arrays.copyOf(good, good.length + 1));
      checkOtherBytes(good);
      byte[] other = cosine.parts.get(0).searchPartial(0, queries, 3);
      checkMerge(PolarException.StateMismatch.class, NQ, 3, "partials[1]", good, other);
      checkMerge(BAD, NQ - 1, 3, "partials[0]: for 9 queries", good);
      checkMerge(BAD, NQ, 4, "partials[0]", good);
      checkMerge(BAD, NQ, 0, "k: 0", good);
      checkMerge(BAD, NQ, -1, "k: -1", good);
      checkMerge(BAD, -1, 3, "-1", good);
      checkMerge(BAD, Integer.MAX_VALUE, 3, "array", good);
      checkMerge(BAD, NQ, 3, "n: 0");
      checkMerge(NullPointerException.class, NQ, 3, "partials", good, null);
    }
  }

  /** Whatever byte is another one: an answer or an error of the library's. */
  private static void checkOtherBytes(byte[] good) {
    for (int at = 0; at < good.length; ++at) {
      byte[] other = good.clone();
      other[at] ^= (byte) 0x81;
      try {
        Index.mergePartials(Arrays.asList(good, other), NQ, 3);
      } catch (PolarException error) {
        Expect.isTrue(error.getMessage().contains("partials"), error.toString());
      }
    }
  }

  @Test
  void rowsAreAddedBesidePartialSearches() throws InterruptedException {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.train(x);
      index.add(Arrays.copyOf(x, 10 * DIM));
      Thread adding = new Thread(() -> {
        for (int first = 0; first < ROWS; first += 10) {
          index.add(Arrays.copyOfRange(x, first * DIM, (first + 10) * DIM));
        }
      });
      adding.start();
      float[] query = Rows.row(x, 0, DIM);
      while (adding.isAlive()) {
        byte[] partial = index.searchPartial(0, query, ROWS);
        Expect.equal(Index.mergePartials(Arrays.asList(partial), 1, ROWS).id(0), 0);
      }
      adding.join();
      Expect.equal(index.ntotal(), ROWS + 10);
    }
  }
}
