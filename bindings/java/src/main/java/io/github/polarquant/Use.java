// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongConsumer;
import java.util.function.LongUnaryOperator;

/**
 * A handle of C's and the calls that run on it. The handle is destroyed when its object was closed,
 * or became unreachable, and the last call has left.
 *
 * <p>Calls count themselves in and out of one number, so that a search waits for no lock. Handles
 * that C lets one thread alone change have a lock besides.
 */
final class Use {
  private static final Cleaner CLEANER = Cleaner.create();
  private static final AtomicLong MADE = new AtomicLong();

  /** A bit of `calls`: no call may enter any more. */
  private static final long CLOSED = Long.MIN_VALUE;

  /** Added to `calls` by the thread that destroys the handle, so that no other one does. */
  private static final long DESTROYED = 1L << 62;

  private final String what;
  private final long handle;
  private final LongConsumer destroy;
  private final long number = MADE.incrementAndGet();
  private final AtomicLong calls = new AtomicLong();
  private final ReentrantReadWriteLock turns;
  private Cleaner.Cleanable cleanable;

  private Use(String what, long handle, LongConsumer destroy, boolean hasTurns) {
    this.what = what;
    this.handle = handle;
    this.destroy = destroy;
    this.turns = hasTurns ? new ReentrantReadWriteLock() : null;
  }

  /** Of a handle on which all calls may run at the same time. */
  static Use shared(Object owner, String what, long handle, LongConsumer destroy) {
    return new Use(what, handle, destroy, false).ownedBy(owner);
  }

  /** Of a handle that some calls need alone: `enterAlone`. */
  static Use withTurns(Object owner, String what, long handle, LongConsumer destroy) {
    return new Use(what, handle, destroy, true).ownedBy(owner);
  }

  private Use ownedBy(Object owner) {
    cleanable = CLEANER.register(owner, this::markClosed);
    return this;
  }

  /** The handle, until `leave`, beside other calls. */
  long enter() {
    if (turns != null) {
      enterTurn();
    }
    if (calls.getAndIncrement() < 0) {
      leave();
      throw isClosed();
    }
    return handle;
  }

  void leave() {
    if (calls.decrementAndGet() == CLOSED) {
      destroyOnce();
    }
    if (turns != null) {
      turns.readLock().unlock();
    }
  }

  /** Calls C with the handle. */
  void run(LongConsumer call) {
    long entered = enter();
    try {
      call.accept(entered);
    } finally {
      leave();
    }
  }

  /** A call on two handles. */
  interface CallOnTwo {
    void accept(long own, long other);
  }

  /**
   * Calls C with two handles. They are entered in the order in which they were made, so that no two
   * such calls wait for each other.
   */
  void runWith(Use other, CallOnTwo call) {
    if (number <= other.number) {
      run(own -> other.run(others -> call.accept(own, others)));
    } else {
      other.run(others -> run(own -> call.accept(own, others)));
    }
  }

  /** What C tells of the handle. */
  long read(LongUnaryOperator call) {
    long entered = enter();
    try {
      return call.applyAsLong(entered);
    } finally {
      leave();
    }
  }

  /** Calls C with the handle, while the options' filter, if it is a prepared one, stays open. */
  void search(SearchOptions options, LongConsumer call) {
    searchWith(SearchOptions.preparedUse(options), call);
  }

  void search(Filter filter, LongConsumer call) {
    searchWith(filter.preparedUse(), call);
  }

  private void searchWith(Use prepared, LongConsumer call) {
    if (prepared == null) {
      run(call);
    } else {
      prepared.run(filter -> run(call));
    }
  }

  /** Calls C with the handle, with no other call beside. */
  void runAlone(LongConsumer call) {
    long entered = enterAlone();
    try {
      call.accept(entered);
    } finally {
      leaveAlone();
    }
  }

  /** The handle, until `leaveAlone`, with no other call beside. */
  long enterAlone() {
    if (!Callbacks.isInside()) {
      turns.writeLock().lock();
    } else if (turns.isWriteLockedByCurrentThread() || !turns.writeLock().tryLock()) {
      throw new IllegalStateException(what + ": is in use; a callback cannot change it");
    }
    if (calls.getAndIncrement() < 0) {
      leaveAlone();
      throw isClosed();
    }
    return handle;
  }

  void leaveAlone() {
    if (calls.decrementAndGet() == CLOSED) {
      destroyOnce();
    }
    turns.writeLock().unlock();
  }

  /** No call enters any more; the handle goes now or with the last call. Can be repeated. */
  void close() {
    cleanable.clean();
  }

  boolean wasClosed() {
    return calls.get() < 0;
  }

  private void enterTurn() {
    if (!Callbacks.isInside()) {
      turns.readLock().lock();
    } else if (turns.isWriteLockedByCurrentThread() || !turns.readLock().tryLock()) {
      // A callback that waited could wait for its own call.
      throw new IllegalStateException(what + ": is being changed; a callback cannot use it");
    }
  }

  private void markClosed() {
    if (calls.getAndUpdate(count -> count | CLOSED) == 0) {
      destroyOnce();
    }
  }

  private void destroyOnce() {
    if (calls.compareAndSet(CLOSED, CLOSED + DESTROYED)) {
      destroy.accept(handle);
    }
  }

  private IllegalStateException isClosed() {
    return new IllegalStateException(what + ": is closed; make a new one");
  }
}
