// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.FloatBuffer;
import java.nio.file.Path;

/**
 * An index file made from rows that come in any number of calls, of more than memory holds.
 *
 * <p>Rows are coded in an index in memory; when it has taken {@link
 * BuilderOptions#withMemoryBytes memoryBytes}, it is written as a part to the folder "PATH.parts"
 * and emptied. {@link #finish() finish} merges the parts: the file has the bytes that one index of
 * all rows would be saved as. A build that ended before that, by {@code close}, an exception or a
 * kill, goes on by {@link #resume resume}, after the rows of whole parts.
 *
 * <p>Any number of threads may use one builder; its calls take turns. A callback inside a call
 * cannot use the builder whose call it is.
 */
public final class IndexBuilder implements AutoCloseable {
  private final Use use;
  private final int dim;

  /**
   * Begins an index file.
   *
   * @param path of the file; one that is there stays as it is until the new one is whole
   * @param index says how rows are coded, trained and without rows; a copy is kept
   */
  public IndexBuilder(Path path, Index index) {
    this(path, index, BuilderOptions.DEFAULT);
  }

  /**
   * Begins an index file.
   *
   * @param path of the file; one that is there stays as it is until the new one is whole
   * @param index says how rows are coded, trained and without rows; a copy is kept. One of our
   *     codes, alone ("Polar4") or in an inverted file ("IVF1024,Polar4"), also after vector
   *     transforms, in id maps and in refinements by our codes ("Polar2,Refine(Polar8)")
   * @param options memory, and whether an earlier build is replaced
   * @throws PolarException.NotTrained for an index that was not trained, also where training is
   *     optional, since parts would learn from different rows
   * @throws PolarException.StateMismatch for an index with rows
   * @throws PolarException.Unsupported for graphs and FAISS's kinds
   * @throws PolarException.BadArgument where the folder has parts of an earlier build
   * @throws PolarException.InputOutput while another builder, of another process too, has the
   *     folder
   */
  public IndexBuilder(Path path, Index index, BuilderOptions options) {
    this(create(Texts.ofPath(path), index, options));
  }

  private static long create(byte[] path, Index index, BuilderOptions options) {
    long bytes = options.memoryBytes();
    boolean replaces = options.replaces();
    return index.use().read(from -> NativeBuilder.create(from, path, bytes, replaces));
  }

  private IndexBuilder(long handle) {
    use = Use.withTurns(this, "IndexBuilder", handle, NativeBuilder::destroy);
    dim = NativeBuilder.dim(handle);
  }

  /**
   * Goes on with a build after the rows of its whole parts, which {@link #ntotal} tells.
   *
   * @param path of the file whose parts lie beside it
   * @param options memory
   * @return a new builder, to be closed
   * @throws PolarException.NotFound where there is no such build
   * @throws PolarException.CorruptData for a part that is missing, damaged where it is looked at,
   *     or of another build
   * @throws PolarException.InputOutput while another builder has the folder
   */
  public static IndexBuilder resume(Path path, BuilderOptions options) {
    return new IndexBuilder(NativeBuilder.resume(Texts.ofPath(path), options.memoryBytes()));
  }

  /**
   * Dimensions of a vector.
   *
   * @return 1 to 65535
   */
  public int dim() {
    return dim;
  }

  /**
   * Rows that were added, those of an earlier process's parts too.
   *
   * @return their number
   */
  public long ntotal() {
    return use.read(NativeBuilder::ntotal);
  }

  /**
   * Rows that lie in whole parts: these stay when the process ends now.
   *
   * @return their number
   */
  public long written() {
    return use.read(NativeBuilder::written);
  }

  /**
   * Adds rows with ids ntotal, ntotal + 1, …
   *
   * @param x (n, dim)
   */
  public void add(float[] x) {
    add(FloatBuffer.wrap(x), WorkOptions.DEFAULT);
  }

  /**
   * Adds rows with ids ntotal, ntotal + 1, …. After an exception {@link #ntotal} says how many of
   * them are in.
   *
   * @param x (n, dim)
   * @param options threads, and who is told how far it is
   * @throws PolarException.BadArgument in a builder of rows with ids, and for a row that is refused
   * @throws PolarException.StateMismatch after {@code finish}
   * @throws PolarException.InputOutput where a part cannot be written
   * @throws PolarException.Cancelled where the listener says to stop
   */
  public void add(FloatBuffer x, WorkOptions options) {
    Slice rows = Slice.of(x);
    long n = Shapes.rows("x", rows, dim);
    WorkOptions given = WorkOptions.forC(options);
    use.runAlone(builder -> NativeBuilder.add(builder, n, rows, given));
  }

  /**
   * Adds rows with ids of yours.
   *
   * @param x (n, dim)
   * @param ids (n), each 0 or more
   */
  public void addWithIds(float[] x, long[] ids) {
    addWithIds(FloatBuffer.wrap(x), ids, WorkOptions.DEFAULT);
  }

  /**
   * Adds rows with ids of yours. An id that comes twice is found here within a part, and else by
   * {@code finish}.
   *
   * @param x (n, dim)
   * @param ids (n), each 0 or more
   * @param options threads, and who is told how far it is
   * @throws PolarException.BadArgument in a builder of rows without ids, and for an id that is held
   * @throws PolarException.StateMismatch after {@code finish}
   * @throws PolarException.InputOutput where a part cannot be written
   * @throws PolarException.Cancelled where the listener says to stop
   */
  public void addWithIds(FloatBuffer x, long[] ids, WorkOptions options) {
    Slice rows = Slice.of(x);
    long n = Shapes.rows("x", rows, dim);
    Shapes.check("ids", ids.length, n);
    WorkOptions given = WorkOptions.forC(options);
    use.runAlone(builder -> NativeBuilder.addWithIds(builder, n, rows, Slice.of(ids), given));
  }

  /** Writes the rows in memory as a part, as before a stop that is to lose none. */
  public void writePart() {
    use.runAlone(NativeBuilder::writePart);
  }

  /** Writes the index file and removes the folder of parts. */
  public void finish() {
    finish(WorkOptions.DEFAULT);
  }

  /**
   * Writes the index file and removes the folder of parts; the builder can then only be closed.
   * After an exception the parts are there still, and it can be called again.
   *
   * @param options who is told how far it is
   * @throws PolarException.BadArgument for an id that two parts have
   * @throws PolarException.CorruptData for a damaged part
   * @throws PolarException.StateMismatch after {@code finish}
   * @throws PolarException.InputOutput where the system refuses
   * @throws PolarException.Cancelled where the listener says to stop
   */
  public void finish(WorkOptions options) {
    WorkOptions given = WorkOptions.forC(options);
    use.runAlone(builder -> NativeBuilder.finish(builder, given));
  }

  /**
   * Gives the memory back, once no call runs. Parts that were written stay; rows that were not are
   * lost. Can be called more than once.
   */
  @Override
  public void close() {
    use.close();
  }

  @Override
  public String toString() {
    return "IndexBuilder(" + (use.wasClosed() ? "closed" : "dim " + dim) + ")";
  }
}
