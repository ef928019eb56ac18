// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;

/**
 * Makes, uses and frees objects many times: Leak [ROUNDS [MOST_KIB]]. Ends with 1 where the process
 * has grown by more than so much in the second half of the rounds.
 */
final class Leak {
  private static final int DIM = 32;

  /** The tenth of the rounds from whose end on the process may not grow: Java is warm then. */
  private static final int BEGIN = 5;

  private static final float[] X = Rows.random(20, 4, DIM);

  /** More than C keeps without allocating, and refused at its first row. */
  private static final float[] REFUSED = refused();

  private static final float[] QUERY = Rows.row(X, 1, DIM);
  private static final SearchOptions ONE = SearchOptions.DEFAULT.withNumThreads(1);

  private Leak() {}

  private static float[] refused() {
    float[] rows = new float[300 * DIM];
    rows[0] = Float.NaN;
    return rows;
  }

  public static void main(String[] arguments) throws Exception {
    int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 100_000;
    long most = arguments.length > 1 ? Long.parseLong(arguments[1]) : 4096;
    long begin = 0;
    long end = 0;
    for (int tenth = 1; tenth <= 10; ++tenth) {
      for (int round = 0; round < rounds / 10; ++round) {
        use(round);
      }
      end = settled();
      begin = tenth == BEGIN ? end : begin;
      System.out.println(rounds / 10 * tenth + " rounds: " + end + " KiB");
    }
    System.out.println("grew by " + (end - begin) + " KiB since its " + BEGIN + ". tenth");
    System.exit(end - begin <= most ? 0 : 1);
  }

  private static void use(int round) {
    try (Index index = new Index("Polar4", DIM, Metric.L2);
         Codec codec = new Codec("Polar4", DIM, Metric.L2);
         PreparedFilter filter = Filter.range(0, 3).prepare()) {
      index.addWithIds(X, new long[] {0, 1, 2, 3});
      Expect.equal(index.search(QUERY, 1, ONE.withFilter(filter)).id(0), 1);
      Expect.equal(index.search(QUERY, 1, ONE.withFilter(Filter.predicate(id -> id > 1))).k(), 1);
      index.rangeSearch(QUERY, 1e9f, ONE.withProgress(done -> true));
      index.remove(2);
      byte[] codes = codec.encode(X);
      try (CodeBlocks blocks = new CodeBlocks(codec, codes);
           Query query = codec.prepareQuery(QUERY)) {
        blocks.search(FloatBuffer.wrap(QUERY), 1, ONE);
        codec.score(query, codes);
      }
      if (round % 16 == 0) {
        fail(index, codec, codes);
      }
      if (round % 256 == 0) {
        build();
      }
    }
  }

  /** A file built in parts, which takes longer than all else, since it is written to disk. */
  private static void build() {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      Path folder = Files.createTempDirectory("polarquant-leak");
      Path file = folder.resolve("built");
      index.train(X);
      try (IndexBuilder builder = new IndexBuilder(file, index)) {
        builder.add(X);
        builder.writePart();
        builder.add(X);
        builder.finish(WorkOptions.DEFAULT.withProgress(done -> true));
      }
      Index.mergeFiles(Arrays.asList(file, file), file, WorkOptions.DEFAULT);
      try (Index shards = Index.openShards(Arrays.asList(file, file))) {
        Expect.equal(shards.ntotal(), 32);
        byte[] partial = shards.searchPartial(0, QUERY, 3);
        Index.mergePartials(Arrays.asList(partial, partial), 1, 3);
        Expect.thrown(PolarException.CorruptData.class,
            () -> Index.mergePartials(Arrays.asList(partial, new byte[9]), 1, 3));
      }
      Files.delete(file);
      Files.delete(folder);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** What fails must leave nothing, either. */
  private static void fail(Index index, Codec codec, byte[] codes) {
    Expect.thrown(PolarException.NotFound.class, () -> index.reconstruct(99));
    Expect.thrown(PolarException.BadArgument.class, () -> new Index("None", DIM, Metric.L2));
    Expect.thrown(PolarException.BadArgument.class,
        () -> codec.search(FloatBuffer.wrap(QUERY), ByteBuffer.wrap(codes), 3, 1, ONE));
    Expect.thrown(PolarException.BadArgument.class, () -> index.upsert(new long[300], REFUSED));
    Filter throwing = Filter.predicate(id -> { throw new IllegalArgumentException("mine"); });
    Expect.thrown(
        IllegalArgumentException.class, () -> index.search(QUERY, 1, ONE.withFilter(throwing)));
    Path none = Paths.get("/no/such");
    Expect.thrown(PolarException.StateMismatch.class, () -> new IndexBuilder(none, index));
    Expect.thrown(
        PolarException.InputOutput.class, () -> Index.openShards(Arrays.asList(none, none)));
  }

  /** KiB of memory that the process has, after a collection. */
  private static long settled() throws IOException, InterruptedException {
    for (int i = 0; i < 3; ++i) {
      System.gc();
      Thread.sleep(50);
    }
    for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new IOException("/proc/self/status has no VmRSS");
  }
}
