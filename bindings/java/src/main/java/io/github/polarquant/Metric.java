// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** How nearness is measured. */
public enum Metric {
  /** The inner product of query and row; larger is nearer. */
  INNER_PRODUCT,
  /** The squared distance; smaller is nearer. */
  L2,
  /** The cosine: rows and queries are normalized on the way in; larger is nearer. */
  COSINE;

  /** The library's number, which is the place in this list. */
  int number() {
    return ordinal();
  }

  static Metric byNumber(long number) {
    return values()[(int) number];
  }
}
