// SPDX-License-Identifier: MIT
// Longer than other files: it has all calls on an index, each with what its users read of it.
package io.github.polarquant;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * Vectors stored as codes, searched by the k nearest.
 *
 * <p>Any number of threads may call one index at the same time. Searches run beside a change while
 * it codes rows, in indexes that are one of our codes or an inverted file of one; changes take
 * turns. The package's page has the rules for vectors, errors and closing, which hold for each
 * method.
 */
public final class Index implements AutoCloseable {
  private final Use use;
  private final String description;
  private final int dim;
  private final Metric metric;

  /**
   * Makes an index from a factory string.
   *
   * @param description one of our codes, alone ("Polar2") or in a FAISS factory string
   *     ("IVF1024,Polar4", "PCA128,Polar4", "Polar2,RFlat"), or any FAISS string
   * @param dim dimensions of a vector, 1 to 65535
   * @param metric how nearness is measured
   * @throws PolarException.BadArgument for a description or a size that is not allowed
   * @throws PolarException.Unsupported for a library built without FAISS
   */
  public Index(String description, int dim, Metric metric) {
    this(NativeIndex.create(Texts.toUtf8("description", description), dim,
        Objects.requireNonNull(metric, "metric").number()));
  }

  private Index(long handle) {
    use = Use.shared(this, "Index", handle, NativeIndex::destroy);
    long[] info = new long[4];
    NativeIndex.info(handle, info);
    description = Texts.fromUtf8(NativeIndex.description(handle));
    dim = (int) info[0];
    metric = Metric.byNumber(info[1]);
  }

  /**
   * The factory string it was made from.
   *
   * @return the string
   */
  public String description() {
    return description;
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
   * How nearness is measured.
   *
   * @return the metric
   */
  public Metric metric() {
    return metric;
  }

  /**
   * Rows held.
   *
   * @return their number
   */
  public long ntotal() {
    return use.read(NativeIndex::ntotal);
  }

  /**
   * Whether rows can be added.
   *
   * @return false when {@code train} must come first
   */
  public boolean isTrained() {
    return use.read(index -> NativeIndex.isTrained(index) ? 1 : 0) != 0;
  }

  /**
   * Lists of an inverted file.
   *
   * @return 0 for an index that is none
   */
  public long nlist() {
    return use.read(NativeIndex::nlist);
  }

  /**
   * Lists of an inverted file that a search looks through for each query where its options name no
   * number: 1 in a new index. Files keep it.
   *
   * @return 0 for an index that is no inverted file
   */
  public long nprobe() {
    return use.read(NativeIndex::nprobe);
  }

  /**
   * Sets {@link #nprobe()}.
   *
   * @param nprobe 1 or more; beyond the lists there are, all are searched
   * @throws PolarException.Unsupported for an index that is no inverted file
   */
  public void setNprobe(long nprobe) {
    use.run(index -> NativeIndex.setNprobe(index, nprobe));
  }

  /**
   * Bytes of one row's code, without ids and graph links.
   *
   * @return the bytes
   * @throws PolarException.Unsupported where rows share codes or FAISS does not tell
   */
  public long codeSize() {
    return use.read(NativeIndex::codeSize);
  }

  /**
   * Memory held: codes, ids, what was trained; not what lies in a mapped file.
   *
   * @return the bytes
   */
  public long memoryBytes() {
    return use.read(NativeIndex::memoryBytes);
  }

  /**
   * Learns what the index needs from rows, forgetting what it learned before.
   *
   * @param x (n, dim)
   */
  public void train(float[] x) {
    train(FloatBuffer.wrap(x), WorkOptions.DEFAULT);
  }

  /**
   * Learns what the index needs from rows, forgetting what it learned before.
   *
   * @param x (n, dim)
   * @param options threads, and who is told how far it is
   * @throws PolarException.StateMismatch once it holds rows, but for those that one of our codes
   *     alone still keeps as floats
   * @throws PolarException.Cancelled where the listener says to stop
   */
  public void train(FloatBuffer x, WorkOptions options) {
    Slice rows = Slice.of(x);
    long n = Shapes.rows("x", rows, dim);
    WorkOptions given = WorkOptions.forC(options);
    use.run(index -> NativeIndex.train(index, n, rows, given));
  }

  /**
   * Trains an inverted file of our codes alone with lists that were made elsewhere.
   *
   * @param centroids (nlist, dim), which become the lists' as they are
   * @param x (n, dim), to train the code on
   * @param options threads, and who is told how far it is
   * @throws PolarException.Unsupported for other indexes
   */
  public void trainWithCentroids(FloatBuffer centroids, FloatBuffer x, WorkOptions options) {
    Slice lists = Slice.of(centroids);
    Slice rows = Slice.of(x);
    long nlist = Shapes.rows("centroids", lists, dim);
    long n = Shapes.rows("x", rows, dim);
    WorkOptions given = WorkOptions.forC(options);
    use.run(index -> NativeIndex.trainWithCentroids(index, nlist, lists, n, rows, given));
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
   * Adds rows with ids ntotal, ntotal + 1, …. An index of one of our codes that was not trained
   * keeps its rows as floats until they are 1,000, and learns from these.
   *
   * @param x (n, dim)
   * @param options threads, and who is told how far it is
   * @throws PolarException.NotTrained where {@code train} must come first
   * @throws PolarException.BadArgument in an index of rows with ids, and for a row that is refused
   * @throws PolarException.Cancelled where the listener says to stop
   */
  public void add(FloatBuffer x, WorkOptions options) {
    Slice rows = Slice.of(x);
    long n = Shapes.rows("x", rows, dim);
    WorkOptions given = WorkOptions.forC(options);
    use.run(index -> NativeIndex.add(index, n, rows, given));
  }

  /**
   * Adds rows with ids of yours.
   *
   * @param x (n, dim)
   * @param ids (n), each 0 or more and not in the index yet
   */
  public void addWithIds(float[] x, long[] ids) {
    addWithIds(FloatBuffer.wrap(x), ids, WorkOptions.DEFAULT);
  }

  /**
   * Adds rows with ids of yours.
   *
   * @param x (n, dim)
   * @param ids (n), each 0 or more and not in the index yet
   * @param options threads, and who is told how far it is
   * @throws PolarException.NotTrained where {@code train} must come first
   * @throws PolarException.BadArgument in an index of rows without ids, and for an id that is held
   * @throws PolarException.Unsupported for a FAISS index that takes none; ",IDMap2" after its
   *     description gives it ids
   */
  public void addWithIds(FloatBuffer x, long[] ids, WorkOptions options) {
    Slice rows = Slice.of(x);
    long n = Shapes.rows("x", rows, dim);
    Shapes.check("ids", ids.length, n);
    WorkOptions given = WorkOptions.forC(options);
    use.run(index -> NativeIndex.addWithIds(index, n, rows, Slice.of(ids), given));
  }

  /**
   * Adds rows with ids of yours into lists of your choice, for the indexes of {@link
   * #trainWithCentroids}.
   *
   * @param x (n, dim)
   * @param ids (n), each 0 or more and not in the index yet
   * @param lists (n), each 0 to nlist − 1
   * @param options threads, and who is told how far it is
   */
  public void addToLists(FloatBuffer x, long[] ids, long[] lists, WorkOptions options) {
    Slice rows = Slice.of(x);
    long n = Shapes.rows("x", rows, dim);
    Shapes.check("ids", ids.length, n);
    Shapes.check("lists", lists.length, n);
    WorkOptions given = WorkOptions.forC(options);
    use.run(index -> NativeIndex.addToLists(index, n, rows, Slice.of(ids), Slice.of(lists), given));
  }

  /**
   * Codes rows in the place of those with these ids.
   *
   * @param ids (n); of equal ids the last counts
   * @param x (n, dim)
   */
  public void update(long[] ids, float[] x) {
    update(ids, FloatBuffer.wrap(x), WorkOptions.DEFAULT);
  }

  /**
   * Codes rows in the place of those with these ids.
   *
   * @param ids (n); of equal ids the last counts
   * @param x (n, dim)
   * @param options threads, and who is told how far it is
   * @throws PolarException.NotFound for an id that is not held
   * @throws PolarException.Unsupported unless the index is one of our codes or an inverted file of
   *     one
   */
  public void update(long[] ids, FloatBuffer x, WorkOptions options) {
    Slice rows = Slice.of(x);
    long n = Shapes.rows("x", rows, dim);
    Shapes.check("ids", ids.length, n);
    WorkOptions given = WorkOptions.forC(options);
    use.run(index -> NativeIndex.update(index, n, Slice.of(ids), rows, given));
  }

  /**
   * Codes rows in the place of those with these ids, and adds those whose ids are not held.
   *
   * @param ids (n), each 0 or more; of equal ids the last counts
   * @param x (n, dim)
   */
  public void upsert(long[] ids, float[] x) {
    upsert(ids, FloatBuffer.wrap(x), WorkOptions.DEFAULT);
  }

  /**
   * Codes rows in the place of those with these ids, and adds those whose ids are not held.
   *
   * @param ids (n), each 0 or more; of equal ids the last counts
   * @param x (n, dim)
   * @param options threads, and who is told how far it is
   * @throws PolarException.Unsupported for id maps, and where {@code update} is
   */
  public void upsert(long[] ids, FloatBuffer x, WorkOptions options) {
    Slice rows = Slice.of(x);
    long n = Shapes.rows("x", rows, dim);
    Shapes.check("ids", ids.length, n);
    WorkOptions given = WorkOptions.forC(options);
    use.run(index -> NativeIndex.upsert(index, n, Slice.of(ids), rows, given));
  }

  /**
   * Removes rows; ids that are not held are passed over. Rows without ids of yours are numbered
   * anew.
   *
   * @param ids in any order
   * @return how many rows went
   * @throws PolarException.Unsupported where an index cannot do that
   */
  public long remove(long... ids) {
    Slice given = Slice.of(ids);
    return use.read(index -> NativeIndex.remove(index, ids.length, given));
  }

  /**
   * Removes the rows that a search with this filter would find among.
   *
   * @param filter bits, ids or a range, prepared or not
   * @return how many rows went
   * @throws PolarException.BadArgument for a predicate
   * @throws PolarException.Unsupported where an index cannot remove rows
   */
  public long remove(Filter filter) {
    filter.checkForRemoval();
    long[] removed = new long[1];
    use.search(filter, index -> removed[0] = NativeIndex.removeFiltered(index, filter));
    return removed[0];
  }

  /**
   * Moves all rows of another index here; it is empty afterwards and stays usable.
   *
   * @param other made and trained alike
   */
  public void mergeFrom(Index other) {
    mergeFrom(other, WorkOptions.DEFAULT);
  }

  /**
   * Moves all rows of another index here; it is empty afterwards and stays usable.
   *
   * @param other made and trained alike
   * @param options threads, and who is told how far it is
   * @throws PolarException.StateMismatch where their codes do not mix
   * @throws PolarException.Unsupported for graphs, refinements and FAISS's packed lists
   */
  public void mergeFrom(Index other, WorkOptions options) {
    WorkOptions given = WorkOptions.forC(options);
    use.runWith(other.use, (index, from) -> NativeIndex.merge(index, from, given));
  }

  /**
   * Finds the k nearest rows of each query.
   *
   * @param queries (nq, dim)
   * @param k 1 or more
   * @return scores and ids, (nq, k)
   */
  public SearchResult search(float[] queries, int k) {
    return search(queries, k, SearchOptions.DEFAULT);
  }

  /**
   * Finds the k nearest rows of each query.
   *
   * @param queries (nq, dim)
   * @param k 1 or more
   * @param options filter, exactness and the like
   * @return scores and ids, (nq, k); where there are fewer rows, id −1
   */
  public SearchResult search(float[] queries, int k, SearchOptions options) {
    return search(Slice.of(queries), k, options);
  }

  /**
   * Finds the k nearest rows of each query.
   *
   * @param queries (nq, dim)
   * @param k 1 or more
   * @param options filter, exactness and the like
   * @return scores and ids, (nq, k); where there are fewer rows, id −1
   * @throws PolarException.NotTrained where {@code train} must come first
   * @throws PolarException.Unsupported for options that the index has no use for
   * @throws PolarException.Cancelled where the listener says to stop
   */
  public SearchResult search(FloatBuffer queries, int k, SearchOptions options) {
    return search(Slice.of(queries), k, options);
  }

  private SearchResult search(Slice queries, int k, SearchOptions options) {
    long nq = Shapes.rows("queries", queries, dim);
    int length = Shapes.length("k", nq, k);
    float[] scores = new float[length];
    long[] ids = new long[length];
    search(queries, nq, k, options, Slice.of(scores), Slice.of(ids));
    return new SearchResult(k, scores, ids);
  }

  /**
   * Finds the k nearest rows of each query, into buffers of the caller's.
   *
   * @param queries (nq, dim)
   * @param k 1 or more
   * @param options filter, exactness and the like
   * @param scores (nq, k) are written from its position to its limit
   * @param ids (nq, k) are written from its position to its limit
   */
  public void search(
      FloatBuffer queries, int k, SearchOptions options, FloatBuffer scores, LongBuffer ids) {
    Slice given = Slice.of(queries);
    long nq = Shapes.rows("queries", given, dim);
    Shapes.check("scores", scores.remaining(), nq, k);
    Shapes.check("ids", ids.remaining(), nq, k);
    Slice foundScores = Slice.ofOutput("scores", scores);
    Slice foundIds = Slice.ofOutput("ids", ids);
    search(given, nq, k, options, foundScores, foundIds);
  }

  private void search(
      Slice queries, long nq, int k, SearchOptions options, Slice scores, Slice ids) {
    SearchOptions given = SearchOptions.forC(options);
    use.search(given, index -> NativeIndex.search(index, nq, queries, k, given, scores, ids));
  }

  /**
   * Finds all rows within a radius of each query.
   *
   * @param queries (nq, dim)
   * @param radius score &gt; radius; for {@link Metric#L2} squared distance &lt; radius
   * @param options filter, exactness and the like
   * @return the rows found
   */
  public RangeResult rangeSearch(float[] queries, float radius, SearchOptions options) {
    return rangeSearch(FloatBuffer.wrap(queries), radius, options);
  }

  /**
   * Finds all rows within a radius of each query. Searches a second time where they are many.
   *
   * @param queries (nq, dim)
   * @param radius score &gt; radius; for {@link Metric#L2} squared distance &lt; radius
   * @param options filter, exactness and the like
   * @return the rows found
   * @throws PolarException.Unsupported for an index without range search: FAISS's graphs
   */
  public RangeResult rangeSearch(FloatBuffer queries, float radius, SearchOptions options) {
    Slice given = Slice.of(queries);
    long nq = Shapes.rows("queries", given, dim);
    SearchOptions forC = SearchOptions.forC(options);
    RangeResult[] found = new RangeResult[1];
    use.search(forC, index -> found[0] = NativeIndex.rangeSearch(index, nq, given, radius, forC));
    return found[0];
  }

  /**
   * Finds what {@link #mergePartials} needs of this part of an index: bytes, to be sent to whoever
   * merges them. Parts may lie in processes of any kind.
   *
   * @param firstRow how many rows the parts before this one have; ids that are positions, and a
   *     filter over them, are those of the whole
   * @param queries (nq, dim)
   * @param k 1 or more
   * @param options filter, exactness and the like
   * @return the partial result
   * @throws PolarException.Unsupported for refinements and graphs, and for a filter over an inverted
   *     file, whose lists are chosen by what the filter keeps of all parts: {@code search} these, and
   *     take the best of all
   * @throws PolarException.NotTrained where {@code train} must come first
   * @throws PolarException.Cancelled where the listener says to stop
   */
  public byte[] searchPartial(long firstRow, FloatBuffer queries, int k, SearchOptions options) {
    Slice given = Slice.of(queries);
    long nq = Shapes.rows("queries", given, dim);
    SearchOptions forC = SearchOptions.forC(options);
    byte[][] found = new byte[1][];
    use.search(
        forC, index -> found[0] = NativePartials.search(index, firstRow, nq, given, k, forC));
    return found[0];
  }

  /**
   * Finds what {@link #mergePartials} needs of this part of an index.
   *
   * @param firstRow how many rows the parts before this one have
   * @param queries (nq, dim)
   * @param k 1 or more
   * @return the partial result
   */
  public byte[] searchPartial(long firstRow, float[] queries, int k) {
    return searchPartial(firstRow, FloatBuffer.wrap(queries), k, SearchOptions.DEFAULT);
  }

  /**
   * The answer of the whole, to the bit that of one index with all rows, from what {@link
   * #searchPartial(long, FloatBuffer, int, SearchOptions) searchPartial} found in its parts for the
   * same queries and k.
   *
   * @param partials of the parts, 1 or more, in the order of their rows
   * @param nq queries
   * @param k rows for each
   * @return scores and ids, (nq, k), as {@code search} has them
   * @throws PolarException.BadArgument for partials of another number of queries or k
   * @throws PolarException.StateMismatch for those of indexes of different kinds
   * @throws PolarException.CorruptData for other bytes
   */
  public static SearchResult mergePartials(List<byte[]> partials, int nq, int k) {
    byte[][] given = partials.toArray(new byte[0][]);
    for (byte[] partial : given) {
      Objects.requireNonNull(partial, "partials");
    }
    int length = Shapes.length("k", nq, k);
    float[] scores = new float[length];
    long[] ids = new long[length];
    NativePartials.merge(given, nq, k, Slice.of(scores), Slice.of(ids));
    return new SearchResult(k, scores, ids);
  }

  /**
   * Tells what a search would do: how it scans, rows, stages, about how many bytes it reads.
   *
   * @param nq queries together, 1 to 2^40
   * @param k rows for each
   * @param options as for {@code search}
   * @return lines for people, whose words may change
   */
  public String explain(long nq, long k, SearchOptions options) {
    SearchOptions given = SearchOptions.forC(options);
    byte[][] text = new byte[1][];
    use.search(given, index -> text[0] = NativeIndex.explain(index, nq, k, given));
    return Texts.fromUtf8(text[0]);
  }

  /**
   * The stored form of a row; normalized for cosine.
   *
   * @param id of the row
   * @return (dim)
   * @throws PolarException.NotFound for an id that is not held
   * @throws PolarException.Unsupported for an index that keeps no way back from id to row
   */
  public float[] reconstruct(long id) {
    float[] x = new float[dim];
    use.run(index -> NativeIndex.reconstruct(index, id, Slice.of(x)));
    return x;
  }

  /**
   * An index like this one, in memory, which can be changed.
   *
   * @return a new index, to be closed
   */
  public Index copy() {
    return new Index(use.read(NativeIndex::copy));
  }

  /**
   * Writes a file: rows, ids, what was trained. It appears whole or not at all.
   *
   * @param path where; a file of that name is replaced
   */
  public void save(Path path) {
    save(path, false);
  }

  /**
   * Writes a file: rows, ids, what was trained. It appears whole or not at all.
   *
   * @param path where; a file of that name is replaced
   * @param verify true to read the file back before it takes its name; the index is in memory twice
   *     meanwhile
   * @throws PolarException.InputOutput where the system refuses
   * @throws PolarException.Unsupported for an index that FAISS cannot write
   */
  public void save(Path path, boolean verify) {
    byte[] name = Texts.ofPath(path);
    use.run(index -> NativeIndex.save(index, name, verify));
  }

  /**
   * Writes the bytes of a file to a stream, which stays open.
   *
   * @param stream where
   * @throws IOException what the stream throws
   */
  public void write(OutputStream stream) throws IOException {
    Objects.requireNonNull(stream, "stream");
    long index = use.enter();
    try {
      NativeIndex.write(index, stream);
    } finally {
      use.leave();
    }
  }

  /**
   * The index of a file.
   *
   * @param path of a file that was saved, on any machine
   * @return a new index, to be closed
   */
  public static Index load(Path path) {
    return load(path, LoadOptions.DEFAULT);
  }

  /**
   * The index of a file. Nothing in it is trusted: it gives a working index or an exception.
   *
   * @param path of a file that was saved, on any machine
   * @param options whether rows stay in the file, and the like
   * @return a new index, to be closed
   * @throws PolarException.CorruptData for a damaged file
   * @throws PolarException.NewerFormat for one of a newer library
   * @throws PolarException.Unsupported for parts of FAISS's that {@code options} do not trust
   * @throws PolarException.InputOutput where the system refuses
   */
  public static Index load(Path path, LoadOptions options) {
    return new Index(NativeIndex.load(Texts.ofPath(path), LoadOptions.forC(options)));
  }

  /**
   * The index that a stream has. No byte after it is read.
   *
   * @param stream with bytes of {@code write} or of a file
   * @param options without a memory map
   * @return a new index, to be closed
   * @throws IOException what the stream throws
   */
  public static Index read(InputStream stream, LoadOptions options) throws IOException {
    Objects.requireNonNull(stream, "stream");
    return new Index(NativeIndex.read(stream, LoadOptions.forC(options)));
  }

  /**
   * An index without rows, in memory, that codes as the one in a file does: for shards whose rows
   * mix with the file's, which are not read.
   *
   * @param path of a file of a kind that {@link IndexBuilder} takes
   * @return a new index, to be closed
   * @throws PolarException.Unsupported for other kinds
   * @throws PolarException.InputOutput where the system refuses
   */
  public static Index loadEmpty(Path path) {
    return new Index(NativeBuilder.loadEmpty(Texts.ofPath(path)));
  }

  /**
   * Several index files as one index, with the answers, to the bit, of the file that {@link
   * #mergeFiles mergeFiles} makes of them. They are mapped, and must stay as {@link
   * LoadOptions#withMemoryMap} says; the index cannot be changed, but saved and copied. Rows are
   * verified when they are first used; ids that two files have are found by {@code verify}, and by
   * saving. Flat codes of the published codecs are not searched.
   *
   * @param paths of the files, 1 or more, in the order of their rows
   * @return a new index, to be closed
   * @throws PolarException.StateMismatch for a file of another state, which it names
   * @throws PolarException.Unsupported for kinds that {@link IndexBuilder} does not take
   * @throws PolarException.InputOutput where the system refuses
   */
  public static Index openShards(List<Path> paths) {
    return new Index(NativeBuilder.openShards(Texts.ofPaths(paths)));
  }

  /**
   * Merges index files into one: the bytes, after equal training, that one index has which was
   * given all rows in this order. Ids of yours stay; other rows are numbered on. Files are mapped
   * and read through: memory does not grow with the rows.
   *
   * @param paths of the files, 1 or more, in the order of their rows
   * @param out appears whole or not at all, and may be one of them, but on Windows, where the
   *     system refuses and nothing changes
   * @param options who is told how far it is
   * @throws PolarException.StateMismatch for a file of another state, which it names: train once
   *     and give all shards that state, by {@link #copy}
   * @throws PolarException.BadArgument for an id that comes twice
   * @throws PolarException.Unsupported for kinds that {@link IndexBuilder} does not take
   * @throws PolarException.InputOutput where the system refuses
   * @throws PolarException.Cancelled where the listener says to stop
   */
  public static void mergeFiles(List<Path> paths, Path out, WorkOptions options) {
    NativeBuilder.mergeFiles(Texts.ofPaths(paths), Texts.ofPath(out), WorkOptions.forC(options));
  }

  /**
   * Reads all that a memory-mapped index has in its file.
   *
   * @throws PolarException.CorruptData if it is damaged
   */
  public void verify() {
    use.run(index -> NativeIndex.verify(index));
  }

  /** For a copy to a GPU, and for builders. */
  Use use() {
    return use;
  }

  /** Gives the memory back, once no call runs. Can be called more than once. */
  @Override
  public void close() {
    use.close();
  }

  @Override
  public String toString() {
    String state = use.wasClosed() ? "closed" : description + ", dim " + dim + ", " + metric;
    return "Index(" + state + ")";
  }
}
