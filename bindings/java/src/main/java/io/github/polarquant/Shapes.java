// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** How many rows an array has, and whether arrays fit one another. */
final class Shapes {
  /** The longest array that every Java can make. */
  private static final int LONGEST = Integer.MAX_VALUE - 8;

  private Shapes() {}

  /** Rows of `dim` numbers each; refuses a part of a row. */
  static long rows(String name, Slice x, int dim) {
    if (x.count % dim != 0) {
      throw new PolarException.BadArgument(
          name + ": " + x.count + " numbers are not allowed; a multiple of dim, " + dim);
    }
    return x.count / dim;
  }

  static void check(String name, long count, long wanted) {
    if (count != wanted) {
      throw new PolarException.BadArgument(
          name + ": length " + count + " is not allowed; " + wanted);
    }
  }

  /** a · b elements of an output that the caller gives. */
  static void check(String name, long count, long a, long b) {
    check(name, count, product(name, a, b));
  }

  /** a · b, neither below 0. */
  static long product(String name, long a, long b) {
    if (a < 0 || b < 0) {
      throw new PolarException.BadArgument(
          name + ": " + Math.min(a, b) + " is not allowed; 0 or more");
    }
    long high = Math.multiplyHigh(a, b);
    long low = a * b;
    if (high != 0 || low < 0) {
      throw new PolarException.BadArgument(name + ": " + a + " times " + b + " is more than 2^63");
    }
    return low;
  }

  /** The length of an array of a · b elements that Java makes. */
  static int length(String name, long a, long b) {
    long length = product(name, a, b);
    if (length > LONGEST) {
      throw new PolarException.BadArgument(name + ": " + length
          + " elements are more than an array of Java's can have, " + LONGEST
          + "; take fewer at a time");
    }
    return (int) length;
  }
}
