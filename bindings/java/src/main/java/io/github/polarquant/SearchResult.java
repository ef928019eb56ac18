// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** The k nearest rows of each query, best first. */
public final class SearchResult {
  private final int k;
  private final float[] scores;
  private final long[] ids;

  SearchResult(int k, float[] scores, long[] ids) {
    this.k = k;
    this.scores = scores;
    this.ids = ids;
  }

  /**
   * Queries searched for.
   *
   * @return their number
   */
  public int queries() {
    return scores.length / k;
  }

  /**
   * Rows for each query.
   *
   * @return the k asked for
   */
  public int k() {
    return k;
  }

  /**
   * The score of a row found for the first query.
   *
   * @param rank 0 for the nearest, to k − 1
   * @return the score; −infinity, for squared distances +infinity, where there are fewer rows
   */
  public float score(int rank) {
    return scores[at(0, rank)];
  }

  /**
   * The id of a row found for the first query.
   *
   * @param rank 0 for the nearest, to k − 1
   * @return the id; −1 where there are fewer rows
   */
  public long id(int rank) {
    return ids[at(0, rank)];
  }

  /**
   * The score of a row found.
   *
   * @param query 0 to queries − 1
   * @param rank 0 for the nearest, to k − 1
   * @return the score; −infinity, for squared distances +infinity, where there are fewer rows
   */
  public float score(int query, int rank) {
    return scores[at(query, rank)];
  }

  /**
   * The id of a row found.
   *
   * @param query 0 to queries − 1
   * @param rank 0 for the nearest, to k − 1
   * @return the id; −1 where there are fewer rows
   */
  public long id(int query, int rank) {
    return ids[at(query, rank)];
  }

  /**
   * All scores.
   *
   * @return (queries, k), one query after the other; the result's own array
   */
  public float[] scores() {
    return scores;
  }

  /**
   * All ids.
   *
   * @return (queries, k), one query after the other; the result's own array
   */
  public long[] ids() {
    return ids;
  }

  private int at(int query, int rank) {
    if (rank < 0 || rank >= k || query < 0 || query >= queries()) {
      throw new IndexOutOfBoundsException("query " + query + ", rank " + rank);
    }
    return query * k + rank;
  }
}
