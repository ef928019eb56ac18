// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.util.BitSet;
import java.util.function.LongPredicate;

/** Which rows filters keep. */
final class FilterTest {
  private static final int DIM = 64;
  private static final SearchOptions EXACT =
      SearchOptions.DEFAULT.withExactness(Float.POSITIVE_INFINITY);
  private final float[] x = Rows.random(8, 1400, DIM);

  private static void check(Index index, float[] query, Filter filter, LongPredicate keeps) {
    SearchResult all = index.search(query, 1400, EXACT);
    SearchResult some = index.search(query, 1400, EXACT.withFilter(filter));
    int rank = 0;
    for (int i = 0; i < 1400; ++i) {
      if (keeps.test(all.id(i))) {
        Expect.equal(some.id(rank++), all.id(i));
      }
    }
    for (; rank < 1400; ++rank) {
      Expect.equal(some.id(rank), -1);
    }
  }

  @Test
  void everyKindKeepsItsIds() {
    BitSet odd = new BitSet();
    for (int i = 1; i < 900; i += 2) {
      odd.set(i);
    }
    LongPredicate isOdd = id -> id % 2 == 1 && id < 900;
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.add(x);
      float[] query = Rows.row(x, 11, DIM);
      check(index, query, Filter.bits(odd), isOdd);
      check(index, query, Filter.bits(odd.toLongArray(), 100), id -> isOdd.test(id) && id < 100);
      check(index, query, Filter.ids(9, 3, 3, 700), id -> id == 3 || id == 9 || id == 700);
      check(index, query, Filter.range(100, 200), id -> id >= 100 && id < 200);
      check(index, query, Filter.range(1300, Long.MAX_VALUE), id -> id >= 1300);
      check(index, query, Filter.predicate(isOdd), isOdd);
      check(index, query, Filter.ids(), id -> false);
      check(index, query, Filter.bits(new BitSet()), id -> false);
      for (int round = 0; round < 3; ++round) {
        try (PreparedFilter prepared = Filter.bits(odd).prepare()) {
          check(index, query, prepared, isOdd);
          check(index, query, prepared, isOdd);
        }
      }
    }
  }

  @Test
  void wrongOnesAreRefused() {
    Class<PolarException.BadArgument> bad = PolarException.BadArgument.class;
    Expect.thrown(bad, () -> Filter.bits(new long[1], 65), "65");
    Expect.thrown(bad, () -> Filter.bits(new long[1], -1), "-1");
    Expect.thrown(bad, () -> Filter.bits(new long[0], Long.MAX_VALUE));
    Expect.thrown(bad, () -> Filter.predicate(id -> true).prepare());
    Expect.thrown(NullPointerException.class, () -> Filter.predicate(null));
    try (PreparedFilter prepared = Filter.ids(1).prepare();
         Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.add(x);
      Expect.thrown(bad, prepared::prepare);
      Expect.thrown(bad, () -> index.remove(Filter.predicate(id -> true)), "predicate");
      prepared.close();
      prepared.close();
      SearchOptions closed = SearchOptions.DEFAULT.withFilter(prepared);
      Expect.thrown(IllegalStateException.class,
          () -> index.search(Rows.row(x, 0, DIM), 1, closed), "closed");
      Expect.thrown(IllegalStateException.class, () -> index.remove(prepared), "closed");
    }
  }
}
