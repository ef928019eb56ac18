// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.util.Arrays;
import java.util.Objects;

/** What a test asks for. */
final class Expect {
  /** Code that may throw. */
  @FunctionalInterface
  interface Code {
    void run() throws Exception;
  }

  private Expect() {}

  static void isTrue(boolean value, String what) {
    if (!value) {
      throw new AssertionError(what);
    }
  }

  static void equal(Object found, Object wanted) {
    boolean isEqual = found instanceof Number && wanted instanceof Number
        ? ((Number) found).doubleValue() == ((Number) wanted).doubleValue()
        : Objects.deepEquals(found, wanted);
    if (!isEqual) {
      Object[] both = {found, wanted};
      throw new AssertionError("found and wanted: " + Arrays.deepToString(both));
    }
  }

  /** Within 10^-6 · (1 + |number|). */
  static void near(float[] found, float[] wanted) {
    equal(found.length, wanted.length);
    for (int i = 0; i < found.length; ++i) {
      boolean isNear = found[i] == wanted[i]
          || Math.abs(found[i] - wanted[i]) <= 1e-6 * (1 + Math.abs(wanted[i]));
      isTrue(isNear, "number " + i + ": " + found[i] + ", wanted " + wanted[i]);
    }
  }

  /** The exception, of exactly that class, whose text has these words. */
  static <E extends Throwable> E thrown(Class<E> type, Code code, String... words) {
    try {
      code.run();
    } catch (Throwable error) {
      if (error.getClass() != type) {
        throw new AssertionError("thrown: " + error + ", wanted " + type, error);
      }
      for (String word : words) {
        isTrue(String.valueOf(error.getMessage()).contains(word), error + " has no: " + word);
      }
      return type.cast(error);
    }
    throw new AssertionError("nothing was thrown, wanted " + type);
  }
}
