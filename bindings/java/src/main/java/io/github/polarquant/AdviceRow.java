// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.util.Locale;

/** One code on the sample of an {@link Advice}. */
public final class AdviceRow {
  private final String spec;
  private final String problem;
  private final double[] numbers;

  private AdviceRow(String spec, String problem, double[] numbers) {
    this.spec = spec;
    this.problem = problem;
    this.numbers = numbers;
  }

  static AdviceRow of(long advice, long row) {
    byte[][] texts = new byte[2][];
    double[] numbers = new double[12];
    NativeAdvice.row(advice, row, texts, numbers);
    return new AdviceRow(Texts.fromUtf8(texts[0]), Texts.fromUtf8(texts[1]), numbers);
  }

  /**
   * Its name, for {@link Codec} and {@link Index}.
   *
   * @return the spec
   */
  public String spec() {
    return spec;
  }

  /**
   * Why it was not measured; then the numbers are 0.
   *
   * @return "" where it was
   */
  public String problem() {
    return problem;
  }

  /**
   * Whether {@code train} must come before {@code encode}.
   *
   * @return true where it must
   */
  public boolean needsTraining() {
    return numbers[0] != 0;
  }

  /**
   * Bytes of a vector, factors included.
   *
   * @return the bytes
   */
  public double bytesPerVector() {
    return numbers[1];
  }

  /**
   * Recall@k over the rows searched.
   *
   * @return 0 to 1
   */
  public double recall() {
    return numbers[2];
  }

  /**
   * Half of the 95 % interval of {@link #recall}.
   *
   * @return the margin
   */
  public double recallMargin() {
    return numbers[3];
  }

  /**
   * Recall@k when only a quarter of the rows is searched.
   *
   * @return 0 to 1
   */
  public double quarterRecall() {
    return numbers[4];
  }

  /**
   * Recall@k over the rows there will be.
   *
   * @return 0 to 1
   */
  public double expectedRecall() {
    return numbers[5];
  }

  /**
   * The mean squared error of rows not trained on, by their squared distance from the centre.
   *
   * @return the error
   */
  public double error() {
    return numbers[6];
  }

  /**
   * Recall less that of the untrained code.
   *
   * @return 0 unless "…-pca"
   */
  public double gain() {
    return numbers[7];
  }

  /**
   * Half of the 95 % interval of {@link #gain}.
   *
   * @return the margin
   */
  public double gainMargin() {
    return numbers[8];
  }

  /**
   * Memory of rotation and tables, once for all vectors.
   *
   * @return the bytes
   */
  public long codecBytes() {
    return (long) numbers[9];
  }

  /**
   * Whether training it gains more than noise.
   *
   * @return false for a "…-pca" code that does not
   */
  public boolean pays() {
    return numbers[10] != 0;
  }

  /**
   * Whether this is the code to take.
   *
   * @return true for one row at most
   */
  public boolean isRecommended() {
    return numbers[11] != 0;
  }

  /** Its line in the table of {@link Advice#toString}. */
  @Override
  public String toString() {
    if (!problem.isEmpty()) {
      return String.format(Locale.ROOT, "%-14s %s", spec, problem);
    }
    return String.format(Locale.ROOT, "%-14s %7.1f %7.3f %9.3f%s", spec, bytesPerVector(), recall(),
        expectedRecall(), isRecommended() ? "  <- take this" : "");
  }
}
