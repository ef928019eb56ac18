// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.stream.Stream;

/** Indexes in files and streams. */
final class IndexFilesTest {
  private static final int DIM = 48;
  private final float[] x = Rows.random(3, 1500, DIM);

  private Index made() {
    Index index = new Index("Polar4", DIM, Metric.COSINE);
    index.addWithIds(x, Rows.ids(100, 1500));
    return index;
  }

  private void check(Index loaded) {
    Expect.equal(loaded.ntotal(), 1500);
    Expect.equal(loaded.search(Rows.row(x, 42, DIM), 1).id(0), 142);
    loaded.verify();
  }

  @Test
  void savesLoadsAndMaps() throws IOException {
    Path folder = Files.createTempDirectory("polarquant-test");
    Path path = folder.resolve("rows, 100% +.polar");
    try (Index index = made()) {
      index.save(path);
      index.save(path, true);
    }
    try (Index loaded = Index.load(path)) {
      check(loaded);
      loaded.remove(100);
    }
    try (Index mapped = Index.load(path, LoadOptions.DEFAULT.withMemoryMap(true))) {
      check(mapped);
      Expect.thrown(PolarException.Unsupported.class, () -> mapped.remove(100));
      try (Index copy = mapped.copy()) {
        Expect.equal(copy.remove(100), 1);
      }
    }
    byte[] bytes = Files.readAllBytes(path);
    bytes[bytes.length / 2] ^= 1;
    Files.write(path, bytes);
    Expect.thrown(PolarException.CorruptData.class, () -> Index.load(path));
    Files.delete(path);
    Expect.thrown(PolarException.InputOutput.class, () -> Index.load(path));
    Files.delete(folder);
    try (Index index = made()) {
      Expect.thrown(PolarException.InputOutput.class, () -> index.save(path));
    }
  }

  /** A file name need be no text in the system's encoding. */
  @Test
  void takesEveryFileName() throws Exception {
    Path folder = Files.createTempDirectory("polarquant-test");
    try (Index index = made()) {
      index.save(folder.resolve("plain"));
    }
    String rename = "mv plain \"$(printf 'gr\\303\\266\\377 %%41.polar')\"";
    ProcessBuilder shell = new ProcessBuilder("sh", "-c", rename).directory(folder.toFile());
    Expect.equal(shell.start().waitFor(), 0);
    try (Stream<Path> files = Files.list(folder)) {
      Path path = files.findFirst().get();
      try (Index loaded = Index.load(path)) {
        check(loaded);
        loaded.save(path);
      }
      Files.delete(path);
    }
    Files.delete(folder);
  }

  @Test
  void relativeAndForeignPaths() throws Exception {
    Path here = Paths.get("").toAbsolutePath();
    Path absolute = Files.createTempFile(here, "polarquant-test", ".polar");
    Path jar = Files.createTempFile("polarquant-test", ".zip");
    Files.write(
        jar, new byte[] {'P', 'K', 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    try (Index index = made();
         FileSystem zip = FileSystems.newFileSystem(jar, (ClassLoader) null)) {
      index.save(absolute.getFileName());
      Expect.thrown(
          PolarException.BadArgument.class, () -> index.save(zip.getPath("/x")), "stream");
    }
    try (Index loaded = Index.load(here.relativize(absolute))) {
      check(loaded);
    }
    Files.delete(absolute);
    Files.delete(jar);
  }

  @Test
  void writesToAndReadsFromStreams() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (Index index = made()) {
      index.write(bytes);
    }
    bytes.write(99);
    ByteArrayInputStream source = new ByteArrayInputStream(bytes.toByteArray());
    try (Index loaded = Index.read(source, LoadOptions.DEFAULT)) {
      check(loaded);
    }
    Expect.equal(source.read(), 99);
    byte[] part = Arrays.copyOf(bytes.toByteArray(), 5000);
    Expect.thrown(PolarException.CorruptData.class,
        () -> Index.read(new ByteArrayInputStream(part), LoadOptions.DEFAULT));
    Expect.thrown(PolarException.BadArgument.class,
        () -> Index.read(new ByteArrayInputStream(part), LoadOptions.DEFAULT.withMemoryMap(true)));
  }

  @Test
  void throwsWhatAStreamThrows() {
    IOException mine = new IOException("no more");
    OutputStream full = new OutputStream() {
      private int left = 4000;

      @Override
      public void write(int each) throws IOException {
        if (--left < 0) {
          throw mine;
        }
      }
    };
    InputStream broken = new InputStream() {
      @Override
      public int read() throws IOException {
        throw mine;
      }
    };
    try (Index index = made()) {
      Expect.isTrue(Expect.thrown(IOException.class, () -> index.write(full)) == mine, "mine");
      check(index);
    }
    Expect.isTrue(
        Expect.thrown(IOException.class, () -> Index.read(broken, LoadOptions.DEFAULT)) == mine,
        "mine");
    InputStream liar = new InputStream() {
      @Override
      public int read() {
        return 0;
      }

      @Override
      public int read(byte[] chunk, int offset, int count) {
        return count + 1;
      }
    };
    Expect.thrown(IOException.class, () -> Index.read(liar, LoadOptions.DEFAULT), "asked for");
  }

  @Test
  void trustsFaissOnlyWhenTold() throws IOException {
    Path path = Files.createTempFile("polarquant-test", ".polar");
    try (Index index = new Index("HNSW8,Flat", DIM, Metric.L2)) {
      index.add(x);
      index.save(path);
    }
    Expect.thrown(PolarException.Unsupported.class, () -> Index.load(path));
    try (Index loaded = Index.load(path, LoadOptions.DEFAULT.withTrustFaiss(true))) {
      Expect.equal(loaded.ntotal(), 1500);
    }
    Files.delete(path);
  }
}
