// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;

/**
 * Codes in blocks of 64 rows, the order that searches read fastest. They come out as they went in.
 *
 * <p>For codecs of "Polar0.5" to "Polar8" and residual codes. Any number of threads may search at
 * the same time; what changes the rows waits for them. Its codec stays in use, and is closed by
 * whom it belongs to; without it calls throw {@link IllegalStateException}.
 */
public final class CodeBlocks implements AutoCloseable {
  private final Codec codec;
  private final Use use;

  /**
   * Makes blocks without rows.
   *
   * @param codec whose codes they are
   * @throws PolarException.Unsupported for a codec whose codes have no blocks
   */
  public CodeBlocks(Codec codec) {
    this.codec = Objects.requireNonNull(codec, "codec");
    long handle = codec.use().read(NativeBlocks::create);
    use = Use.withTurns(this, "CodeBlocks", handle, NativeBlocks::destroy);
  }

  /**
   * Makes blocks of coded rows.
   *
   * @param codec whose codes they are
   * @param codes of n rows
   * @throws PolarException.Unsupported for a codec whose codes have no blocks
   */
  public CodeBlocks(Codec codec, byte[] codes) {
    this(codec);
    try {
      append(codes);
    } catch (RuntimeException | Error error) {
      close();
      throw error;
    }
  }

  /**
   * Whose codes they are.
   *
   * @return the codec
   */
  public Codec codec() {
    return codec;
  }

  /**
   * Rows held.
   *
   * @return their number
   */
  public long size() {
    return use.read(NativeBlocks::rows);
  }

  /**
   * Memory held, with that for further rows.
   *
   * @return the bytes
   */
  public long memoryBytes() {
    return use.read(NativeBlocks::memoryBytes);
  }

  /**
   * Adds coded rows after those held.
   *
   * @param codes of n rows
   */
  public void append(byte[] codes) {
    append(ByteBuffer.wrap(codes), codec.rows(codes));
  }

  /**
   * Adds coded rows after those held.
   *
   * @param codes of n rows
   * @param n rows
   */
  public void append(ByteBuffer codes, long n) {
    Slice from = Slice.of(codes);
    checkCount("n", n);
    codec.use().run(c -> use.runAlone(blocks -> NativeBlocks.append(c, blocks, n, from)));
  }

  /**
   * The codes of rows, as they were added.
   *
   * @param first the first row
   * @param count how many from there on
   * @return their codes
   * @throws PolarException.BadArgument for rows that are not held
   */
  public byte[] get(long first, int count) {
    checkCount("count", count);
    byte[] codes = new byte[Shapes.length("count", codec.codeSize(), count)];
    codec.use().run(
        c -> use.run(blocks -> NativeBlocks.get(c, blocks, first, count, Slice.of(codes))));
    return codes;
  }

  /**
   * Puts one code in the place of a row.
   *
   * @param row 0 to size − 1
   * @param code one row's
   */
  public void overwrite(long row, byte[] code) {
    codec.use().run(
        c -> use.runAlone(blocks -> NativeBlocks.overwrite(c, blocks, row, Slice.of(code))));
  }

  /**
   * Takes out rows; the others keep their order.
   *
   * @param removed a bit for each row, at most size of them
   * @return rows that stay
   */
  public long remove(BitSet removed) {
    long[] words = removed.toLongArray();
    long[] left = new long[1];
    codec.use().run(c -> use.runAlone(blocks -> left[0] = remove(c, blocks, words)));
    return left[0];
  }

  private static long remove(long codec, long blocks, long[] words) {
    long rows = NativeBlocks.rows(blocks);
    int needed = Shapes.length("removed", (rows + 63) / 64, 1);
    BitSet bits = BitSet.valueOf(words);
    if (bits.length() > rows) {
      throw new PolarException.BadArgument(
          "removed: row " + (bits.length() - 1) + " is not allowed; 0 to " + (rows - 1));
    }
    long[] padded = Arrays.copyOf(words, needed);
    NativeBlocks.remove(codec, blocks, Slice.of(padded));
    return NativeBlocks.rows(blocks);
  }

  /**
   * Takes out one row; the last one takes its place.
   *
   * @param row 0 to size − 1
   */
  public void swapRemove(long row) {
    codec.use().run(c -> use.runAlone(blocks -> NativeBlocks.swapRemove(c, blocks, row)));
  }

  /**
   * The k best rows for each query.
   *
   * @param queries (nq, dim)
   * @param k 1 or more
   * @return scores and row positions, (nq, k), best first, ties by lower row
   */
  public SearchResult search(float[] queries, int k) {
    return search(FloatBuffer.wrap(queries), k, SearchOptions.DEFAULT);
  }

  /**
   * The k best rows for each query.
   *
   * @param queries (nq, dim)
   * @param k 1 or more
   * @param options filter of row positions, exactness and the like
   * @return scores and row positions, (nq, k), best first, ties by lower row; where there are fewer
   *     rows, id −1
   */
  public SearchResult search(FloatBuffer queries, int k, SearchOptions options) {
    Slice q = Slice.of(queries);
    long nq = Shapes.rows("queries", q, codec.dim());
    int length = Shapes.length("k", nq, k);
    float[] scores = new float[length];
    long[] ids = new long[length];
    SearchOptions given = SearchOptions.forC(options);
    codec.use().search(given,
        c
        -> use.run(blocks
            -> NativeBlocks.search(c, blocks, nq, q, k, given, Slice.of(scores), Slice.of(ids))));
    return new SearchResult(k, scores, ids);
  }

  /**
   * All rows within a radius of each query. Searches a second time where they are many.
   *
   * @param queries (nq, dim)
   * @param radius score &gt; radius; for {@link Metric#L2} squared distance &lt; radius
   * @param options filter of row positions, exactness and the like
   * @return the rows found; ids are row positions
   */
  public RangeResult rangeSearch(FloatBuffer queries, float radius, SearchOptions options) {
    Slice q = Slice.of(queries);
    long nq = Shapes.rows("queries", q, codec.dim());
    SearchOptions given = SearchOptions.forC(options);
    RangeResult[] found = new RangeResult[1];
    codec.use().search(given,
        c
        -> use.run(blocks -> found[0] = NativeBlocks.rangeSearch(c, blocks, nq, q, radius, given)));
    return found[0];
  }

  private static void checkCount(String name, long count) {
    if (count < 0) {
      throw new PolarException.BadArgument(name + ": " + count + " is not allowed; 0 or more");
    }
  }

  /** Gives the memory back, once no call runs; not the codec's. Can be called more than once. */
  @Override
  public void close() {
    use.close();
  }

  @Override
  public String toString() {
    return "CodeBlocks(" + (use.wasClosed() ? "closed" : codec.toString()) + ")";
  }
}
