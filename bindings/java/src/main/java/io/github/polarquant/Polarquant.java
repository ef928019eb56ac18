// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** The library itself. */
public final class Polarquant {
  private Polarquant() {}

  /**
   * The version of the C library that runs.
   *
   * @return as "0.1.0"
   */
  public static String version() {
    return Texts.fromUtf8(NativePolarquant.version());
  }

  /**
   * Lists every code's name: its form, its meaning and an example.
   *
   * @return lines for people
   */
  public static String specHelp() {
    return Texts.fromUtf8(NativePolarquant.specHelp());
  }

  /** "bad argument", "not trained", …; "unknown status" for others. */
  static String statusName(int status) {
    return Texts.fromUtf8(NativePolarquant.statusName(status));
  }
}
