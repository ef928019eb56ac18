// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** Which vector is made of a code. */
public enum Reconstruction {
  /** The one nearest to the coded vector on average. */
  LEAST_ERROR,
  /** The one whose inner products are unbiased. */
  UNBIASED;

  /** The library's number, which is the place in this list. */
  int number() {
    return ordinal();
  }
}
