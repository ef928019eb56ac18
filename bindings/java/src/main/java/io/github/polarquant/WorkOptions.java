// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.util.Objects;

/** How a call works that trains, encodes, adds, scores or the like. Immutable. */
public final class WorkOptions {
  /** As many threads as OpenMP takes by itself; nobody is told. */
  public static final WorkOptions DEFAULT = new WorkOptions(0, null);

  // C reads these.
  private final int numThreads;
  private final Progress progress;

  private WorkOptions(int numThreads, Progress progress) {
    this.numThreads = numThreads;
    this.progress = progress;
  }

  /** What C is given: null for the defaults. */
  static WorkOptions forC(WorkOptions options) {
    return options == DEFAULT ? null : Objects.requireNonNull(options, "options");
  }

  /**
   * These options with a number of threads.
   *
   * @param numThreads 0 to 1024; 0 is OpenMP's default
   * @return new options
   */
  public WorkOptions withNumThreads(int numThreads) {
    return new WorkOptions(numThreads, progress);
  }

  /**
   * These options with a listener.
   *
   * @param progress is told how far the call is, from the calling thread, and can stop it; null for
   *     none
   * @return new options
   */
  public WorkOptions withProgress(Progress progress) {
    return new WorkOptions(numThreads, progress);
  }
}
