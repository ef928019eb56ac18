// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.util.Objects;

/** What advice is asked for. Immutable. */
public final class AdviceOptions {
  /** The best value of the codes that a user would choose among, for 10 neighbours. */
  public static final AdviceOptions DEFAULT = new AdviceOptions();

  // In the order of NativeAdvice.create; 0 is the library's default, of the seed 1.
  private final long[] whole = {0, 1, 0, 0, 0, 0};
  private final double[] real = {0, 0};
  private String[] specs;
  private Progress progress;

  private AdviceOptions() {}

  private AdviceOptions copy() {
    AdviceOptions made = new AdviceOptions();
    System.arraycopy(whole, 0, made.whole, 0, whole.length);
    System.arraycopy(real, 0, made.real, 0, real.length);
    made.specs = specs;
    made.progress = progress;
    return made;
  }

  private AdviceOptions withWhole(int at, long number) {
    AdviceOptions made = copy();
    made.whole[at] = number;
    return made;
  }

  private AdviceOptions withReal(int at, double number) {
    AdviceOptions made = copy();
    made.real[at] = number;
    return made;
  }

  /**
   * These options with a number of threads.
   *
   * @param numThreads 0 to 1024; 0, the default, is OpenMP's
   * @return new options
   */
  public AdviceOptions withNumThreads(int numThreads) {
    return withWhole(0, numThreads);
  }

  /**
   * These options with a seed, which draws the parts of the sample.
   *
   * @param seed any value; 1 by default
   * @return new options
   */
  public AdviceOptions withSeed(long seed) {
    return withWhole(1, seed);
  }

  /**
   * These options with a number of neighbours.
   *
   * @param k 1 or more; 0 is the default, 10
   * @return new options
   */
  public AdviceOptions withK(long k) {
    return withWhole(2, k);
  }

  /**
   * These options with the rows to search.
   *
   * @param maxRows at most, 10 to 2^40; 0 is the default, 20,000
   * @return new options
   */
  public AdviceOptions withMaxRows(long maxRows) {
    return withWhole(3, maxRows);
  }

  /**
   * These options with the queries to search for.
   *
   * @param maxQueries at most, 10 to 2^40; 0 is the default, 1,000
   * @return new options
   */
  public AdviceOptions withMaxQueries(long maxQueries) {
    return withWhole(4, maxQueries);
  }

  /**
   * These options with the rows there will be.
   *
   * @param totalRows up to 2^40; 0, the default: the sample is all
   * @return new options
   */
  public AdviceOptions withTotalRows(long totalRows) {
    return withWhole(5, totalRows);
  }

  /**
   * These options with a recall: the code of the fewest bytes that surely reaches it is
   * recommended.
   *
   * @param wantedRecall 0 to 1; 0, the default, for none
   * @return new options
   */
  public AdviceOptions withWantedRecall(double wantedRecall) {
    return withReal(0, wantedRecall);
  }

  /**
   * These options with a size: the code of the highest recall within it is recommended.
   *
   * @param allowedBytes for each vector; 0, the default, for any
   * @return new options
   */
  public AdviceOptions withAllowedBytes(double allowedBytes) {
    return withReal(1, allowedBytes);
  }

  /**
   * These options with the codes to measure.
   *
   * @param specs as {@link Codec} takes them; none for those that a user would choose among
   * @return new options
   */
  public AdviceOptions withSpecs(String... specs) {
    AdviceOptions made = copy();
    made.specs = specs.length == 0 ? null : specs.clone();
    return made;
  }

  /**
   * These options with a listener.
   *
   * @param progress is told how far the measuring is, and can stop it, though not while one code is
   *     trained; null, the default, for none
   * @return new options
   */
  public AdviceOptions withProgress(Progress progress) {
    AdviceOptions made = copy();
    made.progress = progress;
    return made;
  }

  long makeAdvice(int dim, Metric metric, Slice x, Slice queries) {
    byte[][] names = specs == null ? null : new byte[specs.length][];
    for (int i = 0; names != null && i < names.length; ++i) {
      names[i] = Texts.toUtf8("specs", Objects.requireNonNull(specs[i], "specs"));
    }
    long n = Shapes.rows("x", x, dim);
    long nq = queries == null ? 0 : Shapes.rows("queries", queries, dim);
    return NativeAdvice.create(
        dim, metric.number(), n, x, nq, queries, whole, real, names, progress);
  }
}
