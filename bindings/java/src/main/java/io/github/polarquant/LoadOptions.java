// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.util.Objects;

/** How an index is loaded. Immutable. */
public final class LoadOptions {
  /** Into memory, and nothing of FAISS's that is not checked. */
  public static final LoadOptions DEFAULT = new LoadOptions(false, false);

  // C reads these.
  private final boolean memoryMap;
  private final boolean trustFaiss;

  private LoadOptions(boolean memoryMap, boolean trustFaiss) {
    this.memoryMap = memoryMap;
    this.trustFaiss = trustFaiss;
  }

  /** What C is given: null for the defaults. */
  static LoadOptions forC(LoadOptions options) {
    return options == DEFAULT ? null : Objects.requireNonNull(options, "options");
  }

  /**
   * These options, with rows left in the file or not. Such an index cannot be changed. The file may
   * be removed or replaced meanwhile, but not written to or cut short, which ends the process. Not
   * for streams.
   *
   * @param memoryMap true for rows in the file, mapped to memory
   * @return new options
   */
  public LoadOptions withMemoryMap(boolean memoryMap) {
    return new LoadOptions(memoryMap, trustFaiss);
  }

  /**
   * These options, with FAISS's own inverted files, graphs and product quantizers read or refused.
   * They are read unchecked: only for files from whom you trust, since others can end the process,
   * or worse.
   *
   * @param trustFaiss true to read them
   * @return new options
   */
  public LoadOptions withTrustFaiss(boolean trustFaiss) {
    return new LoadOptions(memoryMap, trustFaiss);
  }
}
