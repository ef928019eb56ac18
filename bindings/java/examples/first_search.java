// SPDX-License-Identifier: MIT
import io.github.polarquant.Index;
import io.github.polarquant.Metric;
import io.github.polarquant.SearchResult;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.LongStream;

class FirstSearch {
  public static void main(String[] arguments) {
    Path file = Path.of(arguments.length > 0 ? arguments[0] : ".", "first.polar");
    float[] rows = new float[1000 * 64];
    for (int i = 0; i < rows.length; ++i) {
      rows[i] = (float) Math.sin((i / 64 + 1) * (i % 64 + 1));
    }
    float[] query = Arrays.copyOfRange(rows, 42 * 64, 43 * 64);
    try (Index index = new Index("Polar4", 64, Metric.COSINE)) {
      index.addWithIds(rows, LongStream.range(100, 1100).toArray());
      print(index.search(query, 3));
      index.remove(142);
      print(index.search(query, 1));
      index.save(file);
    }
    try (Index loaded = Index.load(file)) {
      System.out.println("rows " + loaded.ntotal());
    }
  }

  static void print(SearchResult found) {
    for (int rank = 0; rank < found.k(); ++rank) {
      System.out.printf("%d %.3f%n", found.id(rank), found.score(rank));
    }
  }
}
