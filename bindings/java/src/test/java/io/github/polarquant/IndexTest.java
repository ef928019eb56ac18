// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.FloatBuffer;

/** What an index finds and tells. */
final class IndexTest {
  private static final int DIM = 48;
  private final float[] x = Rows.random(1, 1200, DIM);

  @Test
  void tellsWhatItIs() {
    try (Index index = new Index("Polar2", DIM, Metric.L2)) {
      Expect.equal(index.description(), "Polar2");
      Expect.equal(index.dim(), DIM);
      Expect.equal(index.metric(), Metric.L2);
      Expect.isTrue(index.isTrained(), "Polar2 needs no training");
      index.add(x);
      Expect.equal(index.ntotal(), 1200);
      Expect.equal(index.nlist(), 0);
      Expect.equal(index.nprobe(), 0);
      Expect.isTrue(index.codeSize() > 8 && index.codeSize() < 30, "bytes " + index.codeSize());
      Expect.isTrue(index.memoryBytes() > 1200 * index.codeSize(), "memory");
      Expect.equal(index.toString(), "Index(Polar2, dim 48, L2)");
    }
    Expect.isTrue(Polarquant.version().startsWith("0.1."), Polarquant.version());
    Expect.isTrue(Polarquant.specHelp().contains("Polar2"), "help");
    Expect.equal(Polarquant.statusName(30), "not trained");
  }

  @Test
  void findsRowsByThemselves() {
    for (Metric metric : Metric.values()) {
      try (Index index = new Index("Polar4", DIM, metric)) {
        index.add(x);
        SearchResult found = index.search(Rows.row(x, 7, DIM), 3);
        Expect.equal(found.id(0), 7);
        Expect.equal(found.queries(), 1);
        Expect.equal(found.k(), 3);
        boolean falls = metric != Metric.L2;
        Expect.isTrue(falls == found.score(0) > found.score(2), "order of scores");
      }
    }
  }

  @Test
  void answersManyQueriesAndFewRows() {
    try (Index index = new Index("Polar4", DIM, Metric.INNER_PRODUCT)) {
      Expect.equal(index.search(Rows.row(x, 0, DIM), 2).ids(), new long[] {-1, -1});
      index.addWithIds(Rows.row(x, 0, DIM), new long[] {77});
      SearchResult found = index.search(x, 2);
      Expect.equal(found.queries(), 1200);
      Expect.equal(found.id(1199, 0), 77);
      Expect.equal(found.id(1199, 1), -1);
      Expect.equal(found.score(1199, 1), Float.NEGATIVE_INFINITY);
      Expect.thrown(IndexOutOfBoundsException.class, () -> found.id(0, 2));
      Expect.thrown(IndexOutOfBoundsException.class, () -> found.score(1200, 0));
      Expect.equal(index.search(new float[0], 2).queries(), 0);
    }
  }

  @Test
  void findsAllRowsWithinARadius() {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.add(x);
      SearchOptions exact = SearchOptions.DEFAULT.withExactness(Float.POSITIVE_INFINITY);
      FloatBuffer queries = FloatBuffer.wrap(x, 0, 10 * DIM);
      RangeResult all = index.rangeSearch(queries, Float.MAX_VALUE, exact);
      Expect.equal(all.queries(), 10);
      Expect.equal(all.lims()[10], 12000);
      Expect.equal(all.ids().length, 12000);
      RangeResult some = index.rangeSearch(Rows.row(x, 3, DIM), 20, exact);
      Expect.equal(some.ids()[0], 3);
      for (float score : some.scores()) {
        Expect.isTrue(score < 20, "score " + score);
      }
      Expect.equal(index.rangeSearch(queries, -100, exact).ids().length, 0);
    }
  }

  @Test
  void explainsASearch() {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.add(x);
      String text = index.explain(1, 10, SearchOptions.DEFAULT);
      Expect.isTrue(text.contains("scan:"), text);
      Expect.thrown(PolarException.BadArgument.class,
          () -> index.explain(0, 10, SearchOptions.DEFAULT), "nq");
    }
  }

  @Test
  void searchesListsGraphsAndRefinements() {
    try (Index lists = new Index("IVF8,Polar4", DIM, Metric.L2)) {
      Expect.isTrue(!lists.isTrained(), "lists need training");
      Expect.thrown(PolarException.NotTrained.class, () -> lists.add(x), "train");
      lists.train(x);
      lists.add(x);
      Expect.equal(lists.nlist(), 8);
      lists.setNprobe(3);
      Expect.equal(lists.nprobe(), 3);
      float[] query = Rows.row(x, 5, DIM);
      Expect.equal(lists.search(query, 1, SearchOptions.DEFAULT.withNprobe(8)).id(0), 5);
      Expect.thrown(PolarException.Unsupported.class,
          () -> lists.search(query, 1, SearchOptions.DEFAULT.withEfSearch(9)), "ef_search");
    }
    try (Index graph = new Index("HNSW8,Polar4", DIM, Metric.L2)) {
      graph.add(x);
      SearchOptions wide = SearchOptions.DEFAULT.withEfSearch(100);
      Expect.equal(graph.search(Rows.row(x, 5, DIM), 1, wide).id(0), 5);
      Expect.equal(graph.remove(1), 1);
      Expect.equal(graph.search(Rows.row(x, 5, DIM), 1, wide).id(0), 4);
    }
    try (Index refined = new Index("Polar2,RFlat", DIM, Metric.L2)) {
      refined.add(x);
      SearchOptions often = SearchOptions.DEFAULT.withKFactor(4);
      SearchResult found = refined.search(Rows.row(x, 5, DIM), 1, often);
      Expect.equal(found.id(0), 5);
      Expect.equal(found.score(0), 0);
    }
  }

  @Test
  void givesBackStoredForms() {
    try (Index index = new Index("Polar8", DIM, Metric.COSINE)) {
      index.add(x);
      float[] row = index.reconstruct(9);
      double length = 0;
      for (float number : row) {
        length += number * number;
      }
      Expect.isTrue(Math.abs(length - 1) < .02, "length " + length);
      Expect.thrown(PolarException.NotFound.class, () -> index.reconstruct(1200), "1200");
    }
  }
}
