// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** All rows within a radius of each query, best first. */
public final class RangeResult {
  private final long[] lims;
  private final float[] scores;
  private final long[] ids;

  /** Called from C. */
  RangeResult(long[] lims, float[] scores, long[] ids) {
    this.lims = lims;
    this.scores = scores;
    this.ids = ids;
  }

  /**
   * Queries searched for.
   *
   * @return their number
   */
  public int queries() {
    return lims.length - 1;
  }

  /**
   * Where the rows of each query begin and end.
   *
   * @return (queries + 1): those of query q are {@code lims[q]} to {@code lims[q + 1] - 1}; the
   *     result's own array
   */
  public long[] lims() {
    return lims;
  }

  /**
   * Scores of the rows of all queries together.
   *
   * @return the result's own array
   */
  public float[] scores() {
    return scores;
  }

  /**
   * Ids of the rows of all queries together.
   *
   * @return the result's own array
   */
  public long[] ids() {
    return ids;
  }
}
