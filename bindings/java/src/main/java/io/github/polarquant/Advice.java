// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/** Which code to take for vectors like a sample: every candidate measured on it. Immutable. */
public final class Advice {
  private final List<AdviceRow> rows;
  private final String reason;
  private final long[] info;

  private Advice(List<AdviceRow> rows, String reason, long[] info) {
    this.rows = Collections.unmodifiableList(rows);
    this.reason = reason;
    this.info = info;
  }

  /**
   * Measures codes on rows and recommends one; a tenth of the rows is held out as queries.
   *
   * @param x (n, dim), drawn from what is to be stored; about 220 rows or more
   * @param dim dimensions of a vector, 1 to 65535
   * @param metric how nearness is measured
   * @return what was found
   */
  public static Advice measure(float[] x, int dim, Metric metric) {
    return measure(FloatBuffer.wrap(x), null, dim, metric, AdviceOptions.DEFAULT);
  }

  /**
   * Measures codes on rows and recommends one. Takes a minute for 384 dimensions on two cores by
   * the defaults.
   *
   * @param x (n, dim), drawn from what is to be stored; about 22 rows for each neighbour, or more
   * @param queries (nq, dim), 10 or more, where they are of another kind than the rows; null holds
   *     out a tenth of the rows
   * @param dim dimensions of a vector, 1 to 65535
   * @param metric how nearness is measured
   * @param options what is asked for
   * @return what was found
   * @throws PolarException.BadArgument for too few rows, numbers that are not finite, wrong names
   * @throws PolarException.Cancelled where the listener says to stop
   */
  public static Advice measure(
      FloatBuffer x, FloatBuffer queries, int dim, Metric metric, AdviceOptions options) {
    Objects.requireNonNull(metric, "metric");
    if (dim < 1) {
      throw new PolarException.BadArgument("dim: " + dim + " is not allowed; 1 to 65535");
    }
    Slice given = queries == null ? null : Slice.of(queries);
    long advice = options.makeAdvice(dim, metric, Slice.of(x), given);
    try {
      long[] info = new long[6];
      String reason = Texts.fromUtf8(NativeAdvice.info(advice, info));
      List<AdviceRow> rows = new ArrayList<>();
      for (long row = 0; row < info[1]; ++row) {
        rows.add(AdviceRow.of(advice, row));
      }
      return new Advice(rows, reason, info);
    } finally {
      NativeAdvice.destroy(advice);
    }
  }

  /**
   * The codes measured, by rising bytes for the default ones.
   *
   * @return an unmodifiable list
   */
  public List<AdviceRow> rows() {
    return rows;
  }

  /**
   * The code to take.
   *
   * @return empty when no code is what was asked for
   */
  public Optional<AdviceRow> recommended() {
    return info[2] < 0 ? Optional.empty() : Optional.of(rows.get((int) info[2]));
  }

  /**
   * Why, in a sentence or two.
   *
   * @return a text for people
   */
  public String reason() {
    return reason;
  }

  /**
   * Whether the queries are rows of the sample.
   *
   * @return true where none were given
   */
  public boolean heldOutQueries() {
    return info[0] != 0;
  }

  /**
   * Queries searched for.
   *
   * @return their number
   */
  public long queries() {
    return info[3];
  }

  /**
   * Rows searched.
   *
   * @return their number
   */
  public long baseRows() {
    return info[4];
  }

  /**
   * Rows trained on.
   *
   * @return their number
   */
  public long trainRows() {
    return info[5];
  }

  /** A table of the codes, and the reason. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(Locale.ROOT, "%-14s %7s %7s %9s%n", "code", "bytes", "recall", "expected"));
    for (AdviceRow row : rows) {
      text.append(row).append(System.lineSeparator());
    }
    return text.append(reason).toString();
  }
}
