// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** C functions of the library itself. Texts are UTF-8. */
final class NativePolarquant {
  static {
    NativeLibrary.load();
  }

  private NativePolarquant() {}

  static native byte[] version();

  static native byte[] specHelp();

  static native byte[] statusName(int status);
}
