// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.io.IOException;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/** Index files built in parts, merged, and searched together. */
final class IndexBuilderTest {
  private static final int DIM = 32;
  private static final int ROWS = 3000;

  /** Rows that make more than one part of the least size. */
  private static final int MANY_ROWS = 40000;

  private static final long LEAST_MEMORY = 1 << 20;
  private static final Class<PolarException.BadArgument> BAD = PolarException.BadArgument.class;
  private static final Class<PolarException.StateMismatch> MISMATCH =
      PolarException.StateMismatch.class;
  private static final BuilderOptions SMALL_PARTS =
      BuilderOptions.DEFAULT.withMemoryBytes(LEAST_MEMORY);
  private final float[] x = Rows.random(31, MANY_ROWS, DIM);

  private float[] rows(int first, int end) {
    return Arrays.copyOfRange(x, first * DIM, end * DIM);
  }

  private FloatBuffer buffer(int first, int end) {
    return FloatBuffer.wrap(x, first * DIM, (end - first) * DIM);
  }

  private static long[] ids(int first, int end) {
    return Rows.ids(first + 5, end - first);
  }

  private Index trained(String description) {
    Index index = new Index(description, DIM, Metric.L2);
    index.train(rows(0, 2000));
    return index;
  }

  /** The bytes of the file of one index of the first rows. */
  private byte[] fileOfOneIndex(Index index, int count, boolean withIds) throws IOException {
    Path file = Files.createTempFile("polarquant-test", ".polar");
    try (Index whole = index.copy()) {
      if (withIds) {
        whole.addWithIds(rows(0, count), ids(0, count));
      } else {
        whole.add(rows(0, count));
      }
      whole.save(file);
      return Files.readAllBytes(file);
    } finally {
      Files.delete(file);
    }
  }

  /** Files of the rows up to each of these ends. */
  private List<Path> saveShards(Index index, Path folder, int... ends) {
    List<Path> paths = new ArrayList<>();
    int first = 0;
    for (int end : ends) {
      try (Index shard = index.copy()) {
        shard.addWithIds(rows(first, end), ids(first, end));
        paths.add(folder.resolve("shard" + paths.size()));
        shard.save(paths.get(paths.size() - 1));
      }
      first = end;
    }
    return paths;
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : (Iterable<Path>) files.sorted(Collections.reverseOrder())::iterator) {
        Files.delete(file);
      }
    }
  }

  private void checkParts(String description, boolean withIds) throws IOException {
    Path folder = Files.createTempDirectory("polarquant-test");
    Path file = folder.resolve("built");
    try (Index index = trained(description);
         IndexBuilder builder = new IndexBuilder(file, index, SMALL_PARTS)) {
      Expect.equal(builder.dim(), DIM);
      Expect.equal(builder.ntotal(), 0);
      int first = 0;
      for (int end : new int[] {1, 1, 5000, MANY_ROWS}) {
        if (withIds) {
          builder.addWithIds(buffer(first, end), ids(first, end), WorkOptions.DEFAULT);
        } else {
          builder.add(buffer(first, end), WorkOptions.DEFAULT);
        }
        Expect.equal(builder.ntotal(), end);
        if (end == 5000) {
          builder.writePart();
          Expect.equal(builder.written(), end);
        }
        first = end;
      }
      if (description.equals("Polar8")) {
        long written = builder.written();
        Expect.isTrue(written > 5000 && written < MANY_ROWS, "written " + written);
      }
      builder.finish();
      byte[] wanted = fileOfOneIndex(index, MANY_ROWS, withIds);
      Expect.isTrue(Arrays.equals(Files.readAllBytes(file), wanted), "the same file");
      Expect.isTrue(Files.notExists(folder.resolve("built.parts")), "no parts");
      Expect.thrown(MISMATCH, () -> builder.add(rows(0, 1)), "finished");
      Expect.thrown(MISMATCH, builder::writePart, "finished");
      Expect.thrown(MISMATCH, builder::finish, "finished");
    }
    remove(folder);
  }

  @Test
  void aFileBuiltInPartsIsThatOfOneIndex() throws IOException {
    checkParts("Polar8", false);
    checkParts("Polar8", true);
    checkParts("IVF7,Polar4", true);
  }

  @Test
  void aBuildGoesOnAfterItsLastPart() throws IOException {
    Path folder = Files.createTempDirectory("polarquant-test");
    Path file = folder.resolve("größe, 100%");
    try (Index index = trained("IVF7,Polar4")) {
      try (IndexBuilder builder = new IndexBuilder(file, index)) {
        builder.add(rows(0, 1000));
        builder.writePart();
        builder.add(rows(1000, 1500)); // lost
        Expect.thrown(PolarException.InputOutput.class,
            () -> IndexBuilder.resume(file, BuilderOptions.DEFAULT), "in use");
      }
      Expect.thrown(BAD, () -> new IndexBuilder(file, index), "replace");
      try (IndexBuilder builder = IndexBuilder.resume(file, SMALL_PARTS)) {
        Expect.equal(builder.ntotal(), 1000);
        Expect.equal(builder.written(), 1000);
        Expect.equal(builder.dim(), DIM);
        builder.add(rows(1000, ROWS));
        builder.finish();
      }
      byte[] wanted = fileOfOneIndex(index, ROWS, false);
      Expect.isTrue(Arrays.equals(Files.readAllBytes(file), wanted), "the same file");
      Expect.thrown(PolarException.NotFound.class,
          () -> IndexBuilder.resume(file, BuilderOptions.DEFAULT), ".parts");
      try (IndexBuilder builder = new IndexBuilder(file, index)) {
        builder.add(rows(0, 50));
        builder.writePart();
      }
      try (IndexBuilder builder =
               new IndexBuilder(file, index, BuilderOptions.DEFAULT.withReplace(true))) {
        Expect.equal(builder.ntotal(), 0);
        builder.add(rows(0, 7));
        builder.finish();
      }
      try (Index built = Index.load(file)) {
        Expect.equal(built.ntotal(), 7);
      }
    }
    remove(folder);
  }

  private void checkMerge(String description) throws IOException {
    Path folder = Files.createTempDirectory("polarquant-test");
    Path file = folder.resolve("merged");
    try (Index index = trained(description); Index some = index.copy()) {
      List<Path> paths = saveShards(index, folder, 1000, ROWS);
      Index.mergeFiles(paths, file, WorkOptions.DEFAULT);
      byte[] wanted = fileOfOneIndex(index, ROWS, true);
      Expect.isTrue(Arrays.equals(Files.readAllBytes(file), wanted), "the same file");
      some.add(rows(0, 100));
      some.save(folder.resolve("some"));
      try (Index merged = Index.load(file); Index shards = Index.openShards(paths);
           Index like = Index.loadEmpty(folder.resolve("some"))) {
        Expect.equal(shards.ntotal(), ROWS);
        Expect.equal(shards.description(), description);
        for (float exactness : new float[] {2, Float.POSITIVE_INFINITY}) {
          SearchOptions options = SearchOptions.DEFAULT.withExactness(exactness);
          SearchResult found = shards.search(rows(500, 570), 10, options);
          SearchResult one = merged.search(rows(500, 570), 10, options);
          Expect.equal(found.ids(), one.ids());
          Expect.equal(found.scores(), one.scores());
        }
        shards.verify();
        shards.save(folder.resolve("saved"));
        Expect.isTrue(
            Arrays.equals(Files.readAllBytes(folder.resolve("saved")), wanted), "the same shards");
        Expect.thrown(PolarException.Unsupported.class,
            () -> shards.addWithIds(rows(0, 1), new long[] {90000}), "memory-mapped");
        Expect.equal(like.ntotal(), 0);
        Expect.isTrue(like.isTrained(), "trained");
        Expect.isTrue(Arrays.equals(fileOfOneIndex(like, ROWS, true), wanted), "coded alike");
      }
    }
    remove(folder);
  }

  @Test
  void mergedFilesAndShardsAreOneIndex() throws IOException {
    checkMerge("Polar4");
    checkMerge("IVF7,Polar4");
  }

  @Test
  void filesThatDoNotFitAreNamed() throws IOException {
    Path folder = Files.createTempDirectory("polarquant-test");
    Path out = folder.resolve("out");
    Path other = folder.resolve("other");
    try (Index index = trained("IVF7,Polar4"); Index differs = trained("IVF7,Polar2");
         Index graph = trained("HNSW8,Polar4")) {
      List<Path> paths = saveShards(index, folder, 1000, 2000);
      List<Path> twice = Arrays.asList(paths.get(0), paths.get(1), paths.get(0));
      List<Path> mixed = Arrays.asList(paths.get(0), other);
      WorkOptions work = WorkOptions.DEFAULT;
      Expect.thrown(BAD, () -> Index.mergeFiles(Collections.emptyList(), out, work), "n: 0");
      Expect.thrown(BAD, () -> Index.openShards(Collections.emptyList()), "n: 0");
      Expect.thrown(BAD, () -> Index.mergeFiles(twice, out, work), "there twice");
      try (Index shards = Index.openShards(twice)) {
        Expect.thrown(BAD, shards::verify, "there twice");
      }
      Expect.thrown(PolarException.InputOutput.class, () -> Index.openShards(mixed), "other");
      differs.save(other);
      Expect.thrown(MISMATCH, () -> Index.mergeFiles(mixed, out, work), "other");
      Expect.thrown(MISMATCH, () -> Index.openShards(mixed), "other");
      graph.save(other);
      Expect.thrown(PolarException.Unsupported.class, () -> Index.loadEmpty(other), "HNSW8,Polar4");
      Expect.thrown(PolarException.InputOutput.class, () -> Index.loadEmpty(out), "out");
      Class<NullPointerException> isNull = NullPointerException.class;
      Expect.thrown(isNull, () -> Index.openShards(null));
      Expect.thrown(isNull, () -> Index.openShards(Arrays.asList(other, null)));
      Expect.thrown(isNull, () -> Index.mergeFiles(paths, null, work));
      Expect.thrown(isNull, () -> Index.mergeFiles(paths, out, null));
      WorkOptions stops = work.withProgress(done -> false);
      Expect.thrown(
          PolarException.Cancelled.class, () -> Index.mergeFiles(paths, out, stops), "merge");
      Expect.isTrue(Files.notExists(out), "no file");
    }
    remove(folder);
  }

  @Test
  void whatABuilderRefuses() throws IOException {
    Path folder = Files.createTempDirectory("polarquant-test");
    Path file = folder.resolve("built");
    try (Index untrained = new Index("Polar4", DIM, Metric.L2);
         Index graph = new Index("HNSW8,Polar4", DIM, Metric.L2)) {
      Expect.thrown(PolarException.NotTrained.class, () -> new IndexBuilder(file, untrained));
      Expect.thrown(
          PolarException.Unsupported.class, () -> new IndexBuilder(file, graph), "HNSW8,Polar4");
    }
    Index index = trained("Polar4");
    for (long bytes : new long[] {LEAST_MEMORY - 1, -1, Long.MIN_VALUE}) {
      BuilderOptions options = BuilderOptions.DEFAULT.withMemoryBytes(bytes);
      Expect.thrown(BAD, () -> new IndexBuilder(file, index, options), "memory_bytes");
    }
    Expect.thrown(NullPointerException.class, () -> new IndexBuilder(file, null));
    Expect.thrown(NullPointerException.class, () -> new IndexBuilder(null, index));
    Expect.thrown(NullPointerException.class, () -> new IndexBuilder(file, index, null));
    try (IndexBuilder builder = new IndexBuilder(file, index)) {
      index.add(rows(0, 5));
      Expect.thrown(MISMATCH, () -> new IndexBuilder(folder.resolve("other"), index), "5 rows");
      index.close(); // the builder has a copy
      Expect.thrown(IllegalStateException.class, () -> new IndexBuilder(file, index), "closed");
      Expect.thrown(BAD, () -> builder.add(new float[DIM + 1]), "multiple of dim");
      Expect.thrown(BAD, () -> builder.addWithIds(rows(0, 1), new long[2]), "ids");
      builder.addWithIds(rows(0, 2), new long[] {1, 2});
      Expect.thrown(BAD, () -> builder.add(rows(0, 1)), "ids");
      Expect.thrown(BAD, () -> builder.addWithIds(rows(0, 1), new long[] {2}), "ids must differ");
      builder.writePart();
      builder.addWithIds(rows(0, 1), new long[] {2});
      // An id of another part is found in the end, and the parts stay.
      Expect.thrown(BAD, builder::finish, "id 2 is there twice");
      Expect.thrown(BAD, builder::finish, "id 2 is there twice");
      Expect.equal(builder.ntotal(), 3);
      builder.close();
      builder.close();
      Expect.equal(builder.toString(), "IndexBuilder(closed)");
      Expect.equal(builder.dim(), DIM);
      Class<IllegalStateException> closed = IllegalStateException.class;
      Expect.thrown(closed, builder::ntotal, "IndexBuilder: is closed");
      Expect.thrown(closed, () -> builder.add(rows(0, 1)), "IndexBuilder: is closed");
      Expect.thrown(closed, builder::finish, "IndexBuilder: is closed");
    }
    remove(folder);
  }

  @Test
  void buildingIsToldOfAndStopped() throws IOException {
    Path folder = Files.createTempDirectory("polarquant-test");
    Path file = folder.resolve("built");
    RuntimeException mine = new RuntimeException("mine");
    WorkOptions stops = WorkOptions.DEFAULT.withProgress(done -> false);
    try (Index index = trained("Polar4"); IndexBuilder builder = new IndexBuilder(file, index)) {
      Expect.thrown(PolarException.Cancelled.class, () -> builder.add(buffer(0, MANY_ROWS), stops));
      builder.add(buffer((int) builder.ntotal(), MANY_ROWS), WorkOptions.DEFAULT);
      Expect.equal(builder.ntotal(), MANY_ROWS);
      Expect.thrown(PolarException.Cancelled.class, () -> builder.finish(stops));
      WorkOptions throwing = WorkOptions.DEFAULT.withProgress(done -> { throw mine; });
      Expect.isTrue(
          Expect.thrown(RuntimeException.class, () -> builder.finish(throwing)) == mine, "mine");
      WorkOptions changing = WorkOptions.DEFAULT.withProgress(done -> {
        builder.writePart();
        return true;
      });
      Expect.thrown(
          IllegalStateException.class, () -> builder.finish(changing), "a callback cannot");
      Expect.isTrue(Files.notExists(file), "no file");
      AtomicReference<Double> last = new AtomicReference<>(0.0);
      builder.finish(WorkOptions.DEFAULT.withProgress(done -> {
        Expect.isTrue(done >= last.getAndSet(done) && done <= 1, "share " + done);
        return true;
      }));
      Expect.equal(last.get(), 1.0);
    }
    try (Index built = Index.load(file, LoadOptions.DEFAULT.withMemoryMap(true))) {
      Expect.equal(built.ntotal(), MANY_ROWS);
    }
    remove(folder);
  }

  @Test
  void threadsTakeTurns() throws Exception {
    Path folder = Files.createTempDirectory("polarquant-test");
    Path file = folder.resolve("built");
    try (Index index = trained("Polar4"); IndexBuilder builder = new IndexBuilder(file, index)) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 8; ++i) {
        threads.add(new Thread(() -> {
          for (int j = 0; j < 20; ++j) {
            builder.add(rows(0, 10));
            builder.ntotal();
          }
          builder.writePart();
        }));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
      Expect.equal(builder.ntotal(), 1600);
      Expect.equal(builder.written(), 1600);
      builder.finish();
    }
    remove(folder);
  }
}
