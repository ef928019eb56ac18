// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** C functions of prepared filters. */
final class NativeFilter {
  static {
    NativeLibrary.load();
  }

  private NativeFilter() {}

  static native long prepare(Filter filter);

  static native void destroy(long prepared);
}
