// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** How an {@link IndexBuilder} works. Immutable. */
public final class BuilderOptions {
  /** Parts of 1 GiB; those of an earlier build are refused. */
  public static final BuilderOptions DEFAULT = new BuilderOptions(0, false);

  private final long memoryBytes;
  private final boolean replace;

  private BuilderOptions(long memoryBytes, boolean replace) {
    this.memoryBytes = memoryBytes;
    this.replace = replace;
  }

  /**
   * These options with memory for the rows of a part. What was trained, and the rows of a call,
   * come on top; leave as much again to the process.
   *
   * @param memoryBytes 1 MiB or more; 0 is 1 GiB
   * @return new options
   */
  public BuilderOptions withMemoryBytes(long memoryBytes) {
    return new BuilderOptions(memoryBytes, replace);
  }

  /**
   * These options with parts of an earlier build removed or refused. For new builds.
   *
   * @param replace true to remove them
   * @return new options
   */
  public BuilderOptions withReplace(boolean replace) {
    return new BuilderOptions(memoryBytes, replace);
  }

  long memoryBytes() {
    return memoryBytes;
  }

  boolean replaces() {
    return replace;
  }
}
