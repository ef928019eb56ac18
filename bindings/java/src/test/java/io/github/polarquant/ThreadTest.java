// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Many threads on one object, and closing while others use it. */
final class ThreadTest {
  private static final int DIM = 64;
  private static final int THREADS = 8;
  private static final SearchOptions ONE_THREAD = SearchOptions.DEFAULT.withNumThreads(1);
  private final float[] x = Rows.random(15, 3000, DIM);

  private interface Work {
    void run(int thread) throws Exception;
  }

  private static void together(Work work) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    CountDownLatch ready = new CountDownLatch(THREADS);
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < THREADS; ++i) {
      int thread = i;
      running.add(threads.submit(() -> {
        ready.countDown();
        ready.await();
        work.run(thread);
        return null;
      }));
    }
    for (Future<?> each : running) {
      each.get();
    }
    threads.shutdown();
  }

  @Test
  void eightThreadsSearchOneIndex() throws Exception {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.add(x);
      together(thread -> {
        for (int i = thread; i < 2400; i += THREADS) {
          Expect.equal(index.search(Rows.row(x, i, DIM), 1, ONE_THREAD).id(0), i);
        }
      });
    }
  }

  @Test
  void everyThreadHasItsOwn() throws Exception {
    together(thread -> {
      for (int round = 0; round < 20; ++round) {
        try (Index index = new Index("Polar2", DIM, Metric.L2);
             Codec codec = new Codec("Polar4", DIM, Metric.L2)) {
          index.add(Rows.row(x, thread, DIM));
          Expect.equal(index.search(Rows.row(x, thread, DIM), 1, ONE_THREAD).id(0), 0);
          byte[] codes = codec.encode(Rows.row(x, thread, DIM));
          Expect.equal(codec.decode(codes).length, DIM);
          Expect.thrown(PolarException.NotFound.class,
              () -> index.reconstruct(100 + thread), "" + (100 + thread));
        }
      }
    });
  }

  @Test
  void searchesRunBesideChanges() throws Exception {
    try (Index index = new Index("Polar4", DIM, Metric.L2)) {
      index.addWithIds(x, Rows.ids(0, 3000));
      together(thread -> {
        for (int i = 0; i < 100; ++i) {
          if (thread == 0) {
            index.addWithIds(Rows.row(x, i, DIM), new long[] {10000 + i});
          } else if (thread == 1) {
            index.remove(2900 + i);
          } else {
            long id = index.search(Rows.row(x, i, DIM), 1, ONE_THREAD).id(0);
            Expect.isTrue(id == i || id == 10000 + i, "row " + i + ", found " + id);
          }
        }
      });
      Expect.equal(index.ntotal(), 3000);
    }
  }

  @Test
  void codecsAndBlocksAreSharedAndChanged() throws Exception {
    try (Codec codec = new Codec("Polar4", DIM, Metric.L2);
         CodeBlocks blocks = new CodeBlocks(codec)) {
      byte[] codes = codec.encode(x);
      byte[] one = codec.encode(Rows.row(x, 0, DIM));
      blocks.append(codes);
      together(thread -> {
        for (int i = 0; i < 60; ++i) {
          if (thread == 0) {
            blocks.append(one);
          } else if (thread == 1) {
            blocks.swapRemove(blocks.size() - 1);
          } else {
            FloatBuffer query = FloatBuffer.wrap(x, i * DIM, DIM);
            Expect.equal(blocks.search(query, 1, ONE_THREAD).id(0), i);
            ByteBuffer all = ByteBuffer.wrap(codes);
            Expect.equal(codec.search(query, all, 3000, 1, ONE_THREAD).id(0), i);
          }
        }
      });
      Expect.equal(blocks.size(), 3000);
    }
  }

  /**
   * Searches wait for a change of a graph, and a change for a collection: no array may be pinned.
   */
  @Test
  void collectionsInCallbacksWaitForNoSearch() throws Exception {
    float[] many = Rows.random(16, 4000, DIM);
    try (Index index = new Index("HNSW8,Polar4", DIM, Metric.L2);
         Codec codec = new Codec("Polar4", DIM, Metric.L2)) {
      index.add(x);
      byte[] codes = codec.encode(many);
      CountDownLatch adding = new CountDownLatch(1);
      Progress collects = done -> {
        if (adding.getCount() > 0) {
          adding.countDown();
          LockSupport.parkNanos(200_000_000); // the others' calls begin
          System.gc();
          byte[][] garbage = new byte[50][];
          for (int i = 0; i < 20000; ++i) {
            garbage[i % garbage.length] = new byte[100_000];
          }
        }
        return true;
      };
      together(thread -> {
        if (thread == 0) {
          index.add(FloatBuffer.wrap(many), WorkOptions.DEFAULT.withProgress(collects));
          return;
        }
        adding.await();
        for (int i = 0; i < 3; ++i) {
          if (thread < 5) {
            index.search(x, 1, ONE_THREAD);
          } else {
            codec.search(Rows.row(x, i, DIM), codes, 10);
          }
        }
      });
    }
  }

  @Test
  void closingWaitsForNobodyAndBreaksNothing() throws Exception {
    for (int round = 0; round < 60; ++round) {
      Index index = new Index("Polar4", DIM, Metric.L2);
      index.add(x);
      PreparedFilter filter = Filter.range(0, 1000).prepare();
      Codec codec = new Codec("Polar4", DIM, Metric.L2);
      byte[] codes = codec.encode(x);
      CodeBlocks blocks = new CodeBlocks(codec, codes);
      Query query = codec.prepareQuery(Rows.row(x, 0, DIM));
      AtomicLong searches = new AtomicLong();
      together(thread -> {
        if (thread == 0) {
          while (searches.get() < 20) {
            Thread.yield();
          }
          filter.close();
          query.close();
          index.close();
          blocks.close();
          codec.close();
          return;
        }
        try {
          for (int i = 0; i < 10000; ++i) {
            float[] q = Rows.row(x, i % 100, DIM);
            SearchOptions options = i % 2 == 0 ? ONE_THREAD : ONE_THREAD.withFilter(filter);
            Expect.equal(index.search(q, 1, options).id(0), i % 100);
            Expect.equal(blocks.search(FloatBuffer.wrap(q), 1, ONE_THREAD).id(0), i % 100);
            Expect.equal(codec.score(query, codes).length, 3000);
            searches.incrementAndGet();
          }
          throw new AssertionError("it was never closed");
        } catch (IllegalStateException closed) {
          searches.addAndGet(20);
        }
      });
    }
  }

  @Test
  void unreachableObjectsAreFreed() throws Exception {
    WeakReference<Index> gone = new WeakReference<>(forgotten());
    for (int i = 0; i < 100 && gone.get() != null; ++i) {
      System.gc();
      Thread.sleep(10);
    }
    Expect.isTrue(gone.get() == null, "still there");
  }

  private Index forgotten() {
    Index index = new Index("Polar4", DIM, Metric.L2);
    index.add(x);
    return index;
  }
}
