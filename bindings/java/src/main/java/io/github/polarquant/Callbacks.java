// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.LongPredicate;

/** What C calls. Knows which threads are inside a callback, where no call may wait for another. */
final class Callbacks {
  private static final ThreadLocal<int[]> DEPTH = ThreadLocal.withInitial(() -> new int[1]);

  private Callbacks() {}

  /** Whether this thread is inside a callback of some call. */
  static boolean isInside() {
    return DEPTH.get()[0] > 0;
  }

  static boolean progress(Progress progress, double done) {
    int[] depth = DEPTH.get();
    ++depth[0];
    try {
      return progress.update(done);
    } finally {
      --depth[0];
    }
  }

  static boolean keep(LongPredicate predicate, long id) {
    int[] depth = DEPTH.get();
    ++depth[0];
    try {
      return predicate.test(id);
    } finally {
      --depth[0];
    }
  }

  static void write(OutputStream stream, byte[] chunk, int count) throws IOException {
    int[] depth = DEPTH.get();
    ++depth[0];
    try {
      stream.write(chunk, 0, count);
    } finally {
      --depth[0];
    }
  }

  /** 0 at the end. */
  static int read(InputStream stream, byte[] chunk, int count) throws IOException {
    int[] depth = DEPTH.get();
    ++depth[0];
    try {
      int read = stream.read(chunk, 0, count);
      if (read > count) {
        throw new IOException(
            "the stream gave " + read + " bytes where " + count + " were asked for");
      }
      return Math.max(read, 0);
    } finally {
      --depth[0];
    }
  }
}
