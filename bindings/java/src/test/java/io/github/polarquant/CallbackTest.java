// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Progress, cancelling, predicates, and what they throw. */
final class CallbackTest {
  private static final int DIM = 128;
  private static final RuntimeException MINE = new RuntimeException("mine");
  private final float[] x = Rows.random(10, 20000, DIM);

  @Test
  void progressIsToldAndStops() {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      AtomicReference<Double> last = new AtomicReference<>(-1.0);
      Thread caller = Thread.currentThread();
      Progress told = done -> {
        Expect.isTrue(Thread.currentThread() == caller, "the calling thread");
        Expect.isTrue(done >= 0 && done <= 1 && done >= last.get(), "share " + done);
        last.set(done);
        return true;
      };
      index.add(FloatBuffer.wrap(x), WorkOptions.DEFAULT.withProgress(told));
      Expect.isTrue(last.get() > 0, "nobody was told");
      WorkOptions stops = WorkOptions.DEFAULT.withProgress(done -> false);
      WorkOptions throwing = WorkOptions.DEFAULT.withProgress(done -> fail());
      Expect.thrown(PolarException.Cancelled.class, () -> index.add(FloatBuffer.wrap(x), stops));
      RuntimeException thrown =
          Expect.thrown(RuntimeException.class, () -> index.add(FloatBuffer.wrap(x), throwing));
      Expect.isTrue(thrown == MINE, "the same exception");
      Expect.equal(index.ntotal(), 20000);
    }
  }

  private static boolean fail() {
    throw MINE;
  }

  @Test
  void searchesStopToo() {
    try (Index index = new Index("Polar8", DIM, Metric.L2)) {
      index.add(x);
      FloatBuffer queries = FloatBuffer.wrap(x);
      SearchOptions exact = SearchOptions.DEFAULT.withExactness(Float.POSITIVE_INFINITY);
      Expect.thrown(PolarException.Cancelled.class,
          () -> index.search(queries, 1, exact.withProgress(done -> false)));
      Expect.isTrue(MINE
              == Expect.thrown(RuntimeException.class,
                  () -> index.search(queries, 1, exact.withProgress(done -> fail()))),
          "the same exception");
      Expect.thrown(PolarException.Cancelled.class,
          () -> index.rangeSearch(queries, 1, exact.withProgress(done -> false)));
    }
  }

  @Test
  void predicatesRunOnManyThreadsAndThrow() {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.add(x);
      AtomicInteger asked = new AtomicInteger();
      Filter even = Filter.predicate(id -> asked.incrementAndGet() > 0 && id % 2 == 0);
      SearchOptions options = SearchOptions.DEFAULT.withFilter(even).withNumThreads(4);
      for (long id : index.search(FloatBuffer.wrap(x, 0, 8 * DIM), 5, options).ids()) {
        Expect.equal(id % 2, 0);
      }
      Expect.isTrue(asked.get() > 0, "nobody asked");
      Filter throwing = Filter.predicate(id -> {
        if (id == 777) {
          throw MINE;
        }
        return true;
      });
      SearchOptions failing = SearchOptions.DEFAULT.withFilter(throwing).withNumThreads(4);
      for (int round = 0; round < 20; ++round) {
        RuntimeException thrown = Expect.thrown(RuntimeException.class,
            () -> index.search(FloatBuffer.wrap(x, 0, 8 * DIM), 5, failing));
        Expect.isTrue(thrown == MINE, "the same exception");
      }
      StackOverflowError deep = new StackOverflowError();
      Filter error = Filter.predicate(id -> { throw deep; });
      Expect.thrown(StackOverflowError.class,
          () -> index.search(Rows.row(x, 0, DIM), 5, SearchOptions.DEFAULT.withFilter(error)));
    }
  }

  @Test
  void callbacksMayReadTheIndexThatCalls() {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.add(x);
      AtomicReference<Exception> refused = new AtomicReference<>();
      AtomicInteger read = new AtomicInteger();
      Filter filter = Filter.predicate(id -> {
        if (id == 5) {
          read.addAndGet((int) index.ntotal());
          try {
            index.remove(0);
          } catch (PolarException error) {
            refused.set(error);
          }
        }
        return true;
      });
      index.search(Rows.row(x, 0, DIM), 5, SearchOptions.DEFAULT.withFilter(filter));
      Expect.isTrue(read.get() > 0, "not read");
      Expect.isTrue(refused.get() != null, "not refused");
      Expect.equal(index.ntotal(), 20000);
    }
  }

  @Test
  void callbacksCannotChangeTheCodecThatCalls() {
    try (Codec codec = new Codec("Polar8", DIM, Metric.L2)) {
      byte[] codes = codec.encode(x);
      AtomicInteger told = new AtomicInteger();
      AtomicInteger refused = new AtomicInteger();
      Progress progress = done -> {
        told.incrementAndGet();
        codec.info();
        try {
          codec.train(x);
        } catch (IllegalStateException inUse) {
          refused.incrementAndGet();
        }
        return true;
      };
      codec.search(FloatBuffer.wrap(x, 0, 4000 * DIM), ByteBuffer.wrap(codes), 20000, 1,
          SearchOptions.DEFAULT.withProgress(progress));
      Expect.isTrue(told.get() > 0 && told.get() == refused.get(), told + ", " + refused);
    }
    try (Codec codec = new Codec("Polar2-pca", DIM, Metric.L2)) {
      AtomicInteger refused = new AtomicInteger();
      Progress progress = done -> {
        try {
          codec.info();
        } catch (IllegalStateException beingChanged) {
          refused.incrementAndGet();
        }
        return true;
      };
      codec.train(FloatBuffer.wrap(x), WorkOptions.DEFAULT.withProgress(progress));
      Expect.isTrue(refused.get() > 0, "not refused");
    }
  }

  @Test
  void callbacksMayCloseWhatCalls() {
    Index index = new Index("Polar4", DIM, Metric.L2);
    index.add(x);
    Filter closing = Filter.predicate(id -> {
      index.close();
      return true;
    });
    SearchResult found =
        index.search(Rows.row(x, 3, DIM), 1, SearchOptions.DEFAULT.withFilter(closing));
    Expect.equal(found.id(0), 3);
    Expect.thrown(IllegalStateException.class, index::ntotal, "closed");
  }
}
