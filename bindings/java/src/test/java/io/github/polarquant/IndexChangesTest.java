// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.FloatBuffer;
import java.util.Arrays;

/** Changes of an index's rows. */
final class IndexChangesTest {
  private static final int DIM = 48;
  private static final SearchOptions EXACT =
      SearchOptions.DEFAULT.withExactness(Float.POSITIVE_INFINITY);
  private final float[] x = Rows.random(2, 1500, DIM);

  @Test
  void addsUpdatesUpsertsAndRemovesById() {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.addWithIds(x, Rows.ids(5000, 1500));
      Expect.equal(index.search(Rows.row(x, 3, DIM), 1).id(0), 5003);
      index.update(new long[] {5004}, Rows.row(x, 3, DIM));
      Expect.equal(index.remove(5003, 9999), 1);
      Expect.equal(index.search(Rows.row(x, 3, DIM), 1).id(0), 5004);
      index.upsert(new long[] {5004, 12}, FloatBuffer.wrap(x, 0, 2 * DIM), WorkOptions.DEFAULT);
      Expect.equal(index.ntotal(), 1500);
      index.upsert(new long[] {13}, Rows.row(x, 9, DIM));
      Expect.equal(index.remove(Filter.range(0, 5000)), 2);
      Expect.equal(index.remove(Filter.ids(6499, 5000, 5000)), 2);
      Expect.thrown(
          PolarException.NotFound.class, () -> index.update(new long[] {1}, Rows.row(x, 0, DIM)));
      Expect.thrown(PolarException.BadArgument.class,
          () -> index.addWithIds(Rows.row(x, 0, DIM), new long[] {5100}), "5100");
      Expect.thrown(PolarException.BadArgument.class, () -> index.add(x), "ids");
    }
  }

  @Test
  void removesByPreparedFilter() {
    try (Index index = new Index("Polar4", DIM, Metric.L2);
         PreparedFilter odd = Filter.ids(1, 3, 5).prepare()) {
      index.addWithIds(x, Rows.ids(0, 1500));
      Expect.equal(index.remove(odd), 3);
      Expect.equal(index.remove(odd), 0);
    }
  }

  @Test
  void mergesAndCopies() {
    try (Index index = new Index("Polar4", DIM, Metric.L2);
         Index other = new Index("Polar4", DIM, Metric.L2);
         Index strange = new Index("Polar2", DIM, Metric.L2)) {
      index.train(x);
      index.addWithIds(x, Rows.ids(0, 1500));
      strange.addWithIds(x, Rows.ids(20000, 1500));
      try (Index copy = index.copy()) {
        Expect.equal(copy.ntotal(), 1500);
        Expect.equal(copy.remove(Filter.range(0, 1500)), 1500);
        copy.addWithIds(x, Rows.ids(9000, 1500));
        index.mergeFrom(copy, WorkOptions.DEFAULT);
        Expect.equal(copy.ntotal(), 0);
      }
      Expect.equal(index.ntotal(), 3000);
      long[] twins = index.search(Rows.row(x, 4, DIM), 2, EXACT).ids();
      Expect.equal(Math.min(twins[0], twins[1]), 4);
      Expect.equal(Math.max(twins[0], twins[1]), 9004);
      Expect.thrown(
          PolarException.StateMismatch.class, () -> index.mergeFrom(strange, WorkOptions.DEFAULT));
      Expect.equal(strange.ntotal(), 1500);
      Expect.thrown(
          PolarException.BadArgument.class, () -> index.mergeFrom(index, WorkOptions.DEFAULT));
      index.mergeFrom(other);
    }
  }

  @Test
  void takesListsThatWereMadeElsewhere() {
    try (Index index = new Index("IVF4,Polar4", DIM, Metric.L2)) {
      FloatBuffer centroids = FloatBuffer.wrap(x, 0, 4 * DIM);
      index.trainWithCentroids(centroids, FloatBuffer.wrap(x), WorkOptions.DEFAULT);
      long[] lists = new long[1500];
      Arrays.fill(lists, 2);
      index.addToLists(FloatBuffer.wrap(x), Rows.ids(0, 1500), lists, WorkOptions.DEFAULT);
      SearchResult found = index.search(Rows.row(x, 2, DIM), 1);
      Expect.equal(found.id(0), 2);
      lists[0] = 4;
      Expect.thrown(PolarException.BadArgument.class,
          ()
              -> index.addToLists(
                  FloatBuffer.wrap(x), Rows.ids(2000, 1500), lists, WorkOptions.DEFAULT),
          "lists");
      Expect.thrown(PolarException.StateMismatch.class,
          ()
              -> index.trainWithCentroids(
                  FloatBuffer.wrap(x, 0, 3 * DIM), FloatBuffer.wrap(x), WorkOptions.DEFAULT));
    }
  }
}
