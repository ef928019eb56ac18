// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;
import java.util.function.LongPredicate;

/**
 * Ids that a search may return, or that a removal takes. Immutable; any number of threads and
 * indexes can use one. Bits and ids lie in memory that C reads in place, so that a search copies
 * none of them.
 */
public class Filter {
  private static final int BITSET = 1;
  private static final int IDS = 2;
  private static final int RANGE = 3;
  private static final int PREDICATE = 4;
  static final int PREPARED = 5;

  // C reads these. `first` is also the number of bits or ids.
  final int kind;
  private final LongBuffer numbers;
  private final long first;
  private final long end;
  private final LongPredicate predicate;
  private final long prepared;

  private Filter(int kind, LongBuffer numbers, long first, long end, LongPredicate predicate) {
    this.kind = kind;
    this.numbers = numbers;
    this.first = first;
    this.end = end;
    this.predicate = predicate;
    this.prepared = 0;
  }

  /** Of a prepared filter of the library's. */
  Filter(long prepared) {
    this.kind = PREPARED;
    this.numbers = null;
    this.first = 0;
    this.end = 0;
    this.predicate = null;
    this.prepared = prepared;
  }

  /**
   * The ids whose bit is set.
   *
   * @param bits a bit for each id from 0 on; copied
   * @return a filter
   */
  public static Filter bits(BitSet bits) {
    return bits(bits.toLongArray(), bits.length());
  }

  /**
   * The ids whose bit is 1: bit {@code id % 64} of word {@code id / 64}.
   *
   * @param words numBits / 64 of them, rounded up, or more; copied
   * @param numBits ids from here on are left out
   * @return a filter
   * @throws PolarException.BadArgument for a negative number, or for fewer words
   */
  public static Filter bits(long[] words, long numBits) {
    long needed = numBits / 64 + (numBits % 64 == 0 ? 0 : 1);
    if (numBits < 0 || needed > words.length) {
      throw new PolarException.BadArgument(
          "num_bits: " + numBits + " is not allowed; 0 to " + 64L * words.length);
    }
    return new Filter(BITSET, direct(words, (int) needed), numBits, 0, null);
  }

  /**
   * These ids.
   *
   * @param ids in any order, with or without repeats; copied
   * @return a filter
   */
  public static Filter ids(long... ids) {
    long[] sorted = ids.clone();
    Arrays.sort(sorted);
    int count = 0;
    for (int i = 0; i < sorted.length; ++i) {
      if (i == 0 || sorted[i] != sorted[i - 1]) {
        sorted[count++] = sorted[i];
      }
    }
    return new Filter(IDS, direct(sorted, count), count, 0, null);
  }

  /**
   * The ids from one to before another.
   *
   * @param first the first one
   * @param end the one after the last; {@link Long#MAX_VALUE} for no end
   * @return a filter
   */
  public static Filter range(long first, long end) {
    return new Filter(RANGE, null, first, end, null);
  }

  /**
   * The ids that a function keeps. It is asked row by row, which is slow, from any thread and from
   * several at once. What it throws ends the search and is thrown by it. Not for removals.
   *
   * @param keeps true for an id that may be returned
   * @return a filter
   */
  public static Filter predicate(LongPredicate keeps) {
    return new Filter(PREDICATE, null, 0, 0, Objects.requireNonNull(keeps, "keeps"));
  }

  /**
   * Prepares this filter for many searches: which rows of an index it keeps is found once, until
   * the rows change.
   *
   * @return a filter with a copy of this one's bits or ids, to be closed
   * @throws PolarException.BadArgument for a predicate, whose answers may change, and for a filter
   *     that is prepared
   */
  public PreparedFilter prepare() {
    return new PreparedFilter(NativeFilter.prepare(this));
  }

  /** The use of a prepared filter; null for others. */
  Use preparedUse() {
    return null;
  }

  /** An exception would leave a removal half done. */
  void checkForRemoval() {
    if (kind == PREDICATE) {
      throw new PolarException.BadArgument(
          "filter: a predicate is not allowed in a removal; bits, ids or a range");
    }
  }

  private static LongBuffer direct(long[] numbers, int count) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(Shapes.length("filter", count, Long.BYTES));
    LongBuffer made = bytes.order(ByteOrder.nativeOrder()).asLongBuffer();
    made.put(numbers, 0, count);
    return made;
  }
}
