// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.Objects;

/**
 * Turns vectors into codes, and scores and searches codes. It holds no vectors.
 *
 * <p>Codes are plain bytes, the same on every machine: {@code n} rows are {@code n * codeSize}
 * bytes, to be copied, cut and joined by row. "PolarPair…g128" codes groups of 128 rows; only the
 * methods that take a number of rows read its codes.
 *
 * <p>Any number of threads may use one codec; {@code train} waits for the others. The package's
 * page has the rules for vectors, errors and closing, which hold for each method.
 */
public final class Codec implements AutoCloseable {
  private final Use use;
  private final String spec;
  private final int dim;
  private final Metric metric;

  /**
   * Makes a codec.
   *
   * @param spec of the code, as "Polar2" or "Polar4+2-dense"; {@link Polarquant#specHelp} lists all
   * @param dim dimensions, 1 to 65535
   * @param metric how scores are measured
   */
  public Codec(String spec, int dim, Metric metric) {
    this(spec, dim, metric, CodecOptions.DEFAULT);
  }

  /**
   * Makes a codec.
   *
   * @param spec of the code, as "Polar2" or "Polar4+2-dense"; {@link Polarquant#specHelp} lists all
   * @param dim dimensions, 1 to 65535
   * @param metric how scores are measured
   * @param options seed, centre and unit
   * @throws PolarException.BadArgument for a name, a size or a number that is not allowed
   */
  public Codec(String spec, int dim, Metric metric, CodecOptions options) {
    this(options.makeCodec(spec, dim, Objects.requireNonNull(metric, "metric")));
  }

  private Codec(long handle) {
    use = Use.withTurns(this, "Codec", handle, NativeCodec::destroy);
    CodecInfo info = CodecInfo.of(handle);
    spec = Texts.fromUtf8(NativeCodec.spec(handle));
    dim = info.dim();
    metric = info.metric();
  }

  /**
   * The codec of a saved state.
   *
   * @param state of {@link #saveState}, on any machine
   * @return a new codec, to be closed
   * @throws PolarException.CorruptData for damaged bytes
   * @throws PolarException.NewerFormat for those of a newer library
   */
  public static Codec loadState(byte[] state) {
    return new Codec(NativeCodec.loadState(Slice.of(state)));
  }

  /**
   * Everything that decides the bytes of codes.
   *
   * @return the state, in the format of docs/format.md
   */
  public byte[] saveState() {
    byte[][] state = new byte[1][];
    use.run(codec -> state[0] = NativeCodec.saveState(codec));
    return state[0];
  }

  /**
   * Throws unless codes of this codec and another mix.
   *
   * @param other the other codec
   * @throws PolarException.StateMismatch with a text that names what differs
   */
  public void checkSameState(Codec other) {
    use.runWith(other.use, NativeCodec::checkSameState);
  }

  /**
   * Its name, in canonical form.
   *
   * @return the spec
   */
  public String spec() {
    return spec;
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
   * How scores are measured.
   *
   * @return the metric
   */
  public Metric metric() {
    return metric;
  }

  /**
   * Bytes of one code, factors included.
   *
   * @return the bytes
   */
  public int codeSize() {
    return (int) info().codeBytes();
  }

  /**
   * All that there is to know, at this moment.
   *
   * @return the numbers
   */
  public CodecInfo info() {
    CodecInfo[] info = new CodecInfo[1];
    use.run(codec -> info[0] = CodecInfo.of(codec));
    return info[0];
  }

  /**
   * The centre.
   *
   * @return (dim), a copy; zeros when there is none
   */
  public float[] centre() {
    float[] centre = new float[dim];
    use.run(codec -> NativeCodec.centre(codec, Slice.of(centre)));
    return centre;
  }

  /**
   * Memory held: rotation, tables, centre.
   *
   * @return the bytes
   */
  public long memoryBytes() {
    return use.read(NativeCodec::memoryBytes);
  }

  /**
   * Learns centre, unit and, where the codec has them, codebooks.
   *
   * @param x (n, dim)
   */
  public void train(float[] x) {
    train(FloatBuffer.wrap(x), WorkOptions.DEFAULT);
  }

  /**
   * Learns centre, unit and, where the codec has them, codebooks. Optional for most codecs; needed
   * by "PolarPair…", "PolarTree…-online" and "…-pca".
   *
   * @param x (n, dim), a sample of what will be encoded
   * @param options threads, and who is told how far it is
   * @throws PolarException.StateMismatch once this codec has encoded anything
   * @throws PolarException.Cancelled where the listener says to stop
   */
  public void train(FloatBuffer x, WorkOptions options) {
    Slice rows = Slice.of(x);
    long n = Shapes.rows("x", rows, dim);
    WorkOptions given = WorkOptions.forC(options);
    use.runAlone(codec -> NativeCodec.train(codec, n, rows, given));
  }

  /**
   * What a "…-pca" codec learned.
   *
   * @return the plan
   * @throws PolarException.Unsupported for other codecs
   * @throws PolarException.NotTrained before {@code train}
   */
  public CodecPlan plan() {
    CodecPlan[] plan = new CodecPlan[1];
    use.run(codec -> plan[0] = CodecPlan.of(codec));
    return plan[0];
  }

  /**
   * How well a "…-pca" codec fits rows: their error, by that of rows which training held out.
   *
   * @param x (n, dim)
   * @param options threads, and who is told how far it is
   * @return near 1: as well as then; above 1.2 or so it is time to train a new codec
   */
  public double drift(FloatBuffer x, WorkOptions options) {
    Slice rows = Slice.of(x);
    long n = Shapes.rows("x", rows, dim);
    WorkOptions given = WorkOptions.forC(options);
    double[] drift = new double[1];
    use.run(codec -> drift[0] = NativeCodec.drift(codec, n, rows, given));
    return drift[0];
  }

  /**
   * Bytes of encoded rows.
   *
   * @param n rows, 0 or more
   * @return the bytes
   */
  public long encodedBytes(long n) {
    return use.read(codec -> NativeCodec.encodedBytes(codec, n));
  }

  /**
   * Codes rows.
   *
   * @param x (n, dim)
   * @return their codes
   */
  public byte[] encode(float[] x) {
    long n = Shapes.rows("x", Slice.of(x), dim);
    byte[] codes = new byte[Shapes.length("x", encodedBytes(n), 1)];
    encode(FloatBuffer.wrap(x), ByteBuffer.wrap(codes), WorkOptions.DEFAULT);
    return codes;
  }

  /**
   * Codes rows.
   *
   * @param x (n, dim)
   * @param codes {@link #encodedBytes} of n are written from its position to its limit
   * @param options threads, and who is told how far it is
   * @throws PolarException.BadArgument that names the row for one that is not finite or is too long
   * @throws PolarException.NotTrained where {@code train} must come first
   * @throws PolarException.Cancelled where the listener says to stop
   */
  public void encode(FloatBuffer x, ByteBuffer codes, WorkOptions options) {
    Slice rows = Slice.of(x);
    Slice to = Slice.ofOutput("codes", codes);
    long n = Shapes.rows("x", rows, dim);
    WorkOptions given = WorkOptions.forC(options);
    use.run(codec -> NativeCodec.encode(codec, n, rows, to, given));
  }

  /**
   * The vectors of codes, of least error.
   *
   * @param codes of n rows
   * @return (n, dim)
   */
  public float[] decode(byte[] codes) {
    long n = rows(codes);
    float[] x = new float[Shapes.length("codes", n, dim)];
    decode(ByteBuffer.wrap(codes), n, Reconstruction.LEAST_ERROR, FloatBuffer.wrap(x),
        WorkOptions.DEFAULT);
    return x;
  }

  /**
   * The vectors of codes.
   *
   * @param codes of n rows
   * @param n rows
   * @param kind which vectors
   * @param x (n, dim) are written from its position to its limit
   * @param options threads, and who is told how far it is
   */
  public void decode(
      ByteBuffer codes, long n, Reconstruction kind, FloatBuffer x, WorkOptions options) {
    Shapes.check("x", x.remaining(), n, dim);
    Slice from = Slice.of(codes);
    Slice to = Slice.ofOutput("x", x);
    WorkOptions given = WorkOptions.forC(options);
    use.run(codec -> NativeCodec.decode(codec, n, from, kind.number(), to, given));
  }

  /**
   * Prepares a query to be scored many times.
   *
   * @param q (dim)
   * @return a new query, to be closed
   */
  public Query prepareQuery(float[] q) {
    Shapes.check("q", q.length, dim);
    return new Query(use.read(codec -> NativeCodec.prepareQuery(codec, Slice.of(q))));
  }

  /**
   * Prepares the vector of a coded row as a query.
   *
   * @param codes of n rows
   * @param n rows
   * @param row 0 to n − 1
   * @return a new query, to be closed
   */
  public Query prepareQueryFromCode(ByteBuffer codes, long n, long row) {
    Slice from = Slice.of(codes);
    return new Query(use.read(codec -> NativeCodec.prepareQueryFromCode(codec, n, from, row)));
  }

  /**
   * The score of every coded row: an estimate of the inner product, the cosine, or the squared
   * distance, which can be slightly below 0.
   *
   * @param query prepared by this codec, or one of its state
   * @param codes of n rows
   * @return (n)
   */
  public float[] score(Query query, byte[] codes) {
    long n = rows(codes);
    float[] scores = new float[(int) n];
    score(query, ByteBuffer.wrap(codes), n, FloatBuffer.wrap(scores), WorkOptions.DEFAULT);
    return scores;
  }

  /**
   * The score of every coded row.
   *
   * @param query prepared by this codec, or one of its state
   * @param codes of n rows
   * @param n rows
   * @param scores (n) are written from its position to its limit
   * @param options threads, and who is told how far it is
   * @throws PolarException.StateMismatch for a query of another codec
   */
  public void score(
      Query query, ByteBuffer codes, long n, FloatBuffer scores, WorkOptions options) {
    Shapes.check("scores", scores.remaining(), n);
    Slice from = Slice.of(codes);
    Slice to = Slice.ofOutput("scores", scores);
    WorkOptions given = WorkOptions.forC(options);
    query.use().run(q -> use.run(codec -> NativeCodec.score(codec, q, n, from, to, given)));
  }

  /**
   * The scores between every row of a and every row of b, from codes alone.
   *
   * @param a codes of na rows
   * @param na rows of a
   * @param b codes of nb rows
   * @param nb rows of b
   * @param scores (na, nb) are written from its position to its limit
   * @param options threads, and who is told how far it is
   */
  public void scoreCodes(
      ByteBuffer a, long na, ByteBuffer b, long nb, FloatBuffer scores, WorkOptions options) {
    Shapes.check("scores", scores.remaining(), na, nb);
    Slice fromA = Slice.of(a);
    Slice fromB = Slice.of(b);
    Slice to = Slice.ofOutput("scores", scores);
    WorkOptions given = WorkOptions.forC(options);
    use.run(codec -> NativeCodec.scoreCodes(codec, na, fromA, nb, fromB, to, given));
  }

  /**
   * Sums of the rows' vectors, of least error, each row by its weight.
   *
   * @param codes of n rows
   * @param n rows
   * @param weights (nw, n)
   * @param out (nw, dim) are written from its position to its limit
   * @param options threads, and who is told how far it is
   */
  public void combine(
      ByteBuffer codes, long n, FloatBuffer weights, FloatBuffer out, WorkOptions options) {
    if (out.remaining() % dim != 0) {
      throw new PolarException.BadArgument(
          "out: " + out.remaining() + " numbers are not allowed; a multiple of dim, " + dim);
    }
    long nw = out.remaining() / dim;
    Shapes.check("weights", weights.remaining(), nw, n);
    Slice from = Slice.of(codes);
    Slice factors = Slice.of(weights);
    Slice to = Slice.ofOutput("out", out);
    WorkOptions given = WorkOptions.forC(options);
    use.run(codec -> NativeCodec.combine(codec, n, from, nw, factors, to, given));
  }

  /**
   * The k best coded rows for each query.
   *
   * @param queries (nq, dim)
   * @param codes of n rows
   * @param k 1 or more
   * @return scores and row positions, (nq, k), best first, ties by lower row
   */
  public SearchResult search(float[] queries, byte[] codes, int k) {
    return search(
        FloatBuffer.wrap(queries), ByteBuffer.wrap(codes), rows(codes), k, SearchOptions.DEFAULT);
  }

  /**
   * The k best coded rows for each query.
   *
   * @param queries (nq, dim)
   * @param codes of n rows
   * @param n rows
   * @param k 1 or more
   * @param options filter of row positions, exactness and the like
   * @return scores and row positions, (nq, k), best first, ties by lower row; where there are fewer
   *     rows, id −1
   */
  public SearchResult search(
      FloatBuffer queries, ByteBuffer codes, long n, int k, SearchOptions options) {
    Slice q = Slice.of(queries);
    Slice from = Slice.of(codes);
    long nq = Shapes.rows("queries", q, dim);
    int length = Shapes.length("k", nq, k);
    float[] scores = new float[length];
    long[] ids = new long[length];
    SearchOptions given = SearchOptions.forC(options);
    use.search(given,
        codec
        -> NativeCodec.search(codec, nq, q, n, from, k, given, Slice.of(scores), Slice.of(ids)));
    return new SearchResult(k, scores, ids);
  }

  /**
   * All coded rows within a radius of each query. Searches a second time where they are many.
   *
   * @param queries (nq, dim)
   * @param codes of n rows
   * @param n rows
   * @param radius score &gt; radius; for {@link Metric#L2} squared distance &lt; radius
   * @param options filter of row positions, exactness and the like
   * @return the rows found; ids are row positions
   */
  public RangeResult rangeSearch(
      FloatBuffer queries, ByteBuffer codes, long n, float radius, SearchOptions options) {
    Slice q = Slice.of(queries);
    Slice from = Slice.of(codes);
    long nq = Shapes.rows("queries", q, dim);
    SearchOptions given = SearchOptions.forC(options);
    RangeResult[] found = new RangeResult[1];
    use.search(
        given, codec -> found[0] = NativeCodec.rangeSearch(codec, nq, q, n, from, radius, given));
    return found[0];
  }

  /** Rows of codes that have no groups. */
  long rows(byte[] codes) {
    CodecInfo info = info();
    if (info.groupRows() != 1) {
      throw new PolarException.BadArgument(
          "codes: those of groups of rows do not tell their number; give it");
    }
    if (codes.length % info.codeBytes() != 0) {
      throw new PolarException.BadArgument(
          "codes: " + codes.length + " bytes are not allowed; a multiple of " + info.codeBytes());
    }
    return codes.length / info.codeBytes();
  }

  /** For blocks and for copies to a GPU. */
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
    return "Codec(" + (use.wasClosed() ? "closed" : spec + ", dim " + dim + ", " + metric) + ")";
  }
}
