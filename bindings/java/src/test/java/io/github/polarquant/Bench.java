// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;

/**
 * What a call from Java costs more than the same call from C, by medians of turns: Bench [ROUNDS].
 * Needs the test's library of C: -Djava.library.path.
 */
final class Bench {
  private static final int K = 10;
  private static final SearchOptions ONE = SearchOptions.DEFAULT.withNumThreads(1);

  private Bench() {}

  /** Nanoseconds of a search, of `calls` by C alone. */
  private static native double searchInC(long index, float[] queries, int dim, int k, int calls);

  /** Nanoseconds to give C an array: 0 GetPrimitiveArrayCritical, 1 GetFloatArrayRegion. */
  static native double giveArray(float[] array, int way, int calls);

  private interface Call {
    void run(int round);
  }

  private static double time(int calls, Call call) {
    long begin = System.nanoTime();
    for (int round = 0; round < calls; ++round) {
      call.run(round);
    }
    return (System.nanoTime() - begin) / (double) calls;
  }

  private static double median(double[] times) {
    double[] sorted = times.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** Turn by turn, since the machine's speed changes over time. */
  private static double[] differences(double[] times, double[] others) {
    double[] made = new double[times.length];
    for (int i = 0; i < made.length; ++i) {
      made[i] = times[i] - others[i];
    }
    return made;
  }

  public static void main(String[] arguments) {
    System.loadLibrary("polarquant");
    System.loadLibrary("polarquant_bench");
    int turns = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 15;
    System.out.println("ns a search, one thread, k 10; what Java adds to C's time");
    for (int dim : new int[] {128, 384, 1536}) {
      for (int rows : new int[] {10, 1000}) {
        searches(dim, rows, turns);
      }
    }
    System.out.println("ns to give C a float[]");
    for (int length : new int[] {128, 384, 1536, 16384, 262144}) {
      arrays(length, turns);
    }
    System.out.println("ms to add 20,000 rows of 384, on two threads");
    adds(Math.min(turns, 7));
  }

  private static void adds(int turns) {
    float[] x = Rows.random(22, 20000, 384);
    FloatBuffer wrapped = FloatBuffer.wrap(x);
    FloatBuffer direct = Rows.direct(x);
    double[][] times = new double[2][turns];
    for (int turn = 0; turn < turns; ++turn) {
      for (int way = 0; way < 2; ++way) {
        try (Index index = new Index("Polar4", 384, Metric.L2)) {
          index.train(Arrays.copyOf(x, 384 * 2000));
          FloatBuffer given = way == 0 ? wrapped : direct;
          WorkOptions two = WorkOptions.DEFAULT.withNumThreads(2);
          times[way][turn] = time(1, i -> index.add(given, two)) / 1e6;
        }
      }
    }
    System.out.printf("float[] %.1f, direct %.1f%n", median(times[0]), median(times[1]));
  }

  private static void searches(int dim, int rows, int turns) {
    int calls = rows > 100 ? 2000 : 20000;
    float[] x = Rows.random(21, Math.max(rows, 16), dim);
    try (Index index = new Index("Polar4", dim, Metric.L2)) {
      index.train(x);
      index.add(Arrays.copyOf(x, rows * dim));
      float[][] queries = new float[16][];
      FloatBuffer[] direct = new FloatBuffer[16];
      for (int i = 0; i < 16; ++i) {
        queries[i] = Rows.row(x, i % rows, dim);
        direct[i] = Rows.direct(queries[i]);
      }
      FloatBuffer scores = Rows.directFloats(K);
      LongBuffer ids = Rows.directLongs(K);
      double[][] times = new double[5][turns];
      long handle = index.use().enter();
      for (int turn = -2; turn < turns; ++turn) {
        double[] now = {searchInC(handle, x, dim, K, calls),
            time(calls, i -> index.search(queries[i & 15], K, ONE)),
            time(calls, i -> index.search(direct[i & 15], K, ONE)),
            time(calls, i -> index.search(direct[i & 15], K, ONE, scores, ids)),
            time(calls, i -> index.ntotal())};
        for (int kind = 0; turn >= 0 && kind < now.length; ++kind) {
          times[kind][turn] = now[kind];
        }
      }
      index.use().leave();
      System.out.printf(
          "dim %4d, %4d rows: C %7.0f; float[] %+.0f, direct %+.0f, direct results too %+.0f;"
              + " ntotal %.0f%n",
          dim, rows, median(times[0]), median(differences(times[1], times[0])),
          median(differences(times[2], times[0])), median(differences(times[3], times[0])),
          median(times[4]));
    }
  }

  private static void arrays(int length, int turns) {
    float[] array = new float[length];
    double[][] times = new double[2][turns];
    for (int turn = 0; turn < turns; ++turn) {
      for (int way = 0; way < 2; ++way) {
        times[way][turn] = giveArray(array, way, length > 10000 ? 500 : 20000);
      }
    }
    System.out.printf(
        "%6d floats: pinned %.0f, copied %.0f%n", length, median(times[0]), median(times[1]));
  }
}
