// SPDX-License-Identifier: MIT
package io.github.polarquant;

/**
 * Hears how far a long call is, and can stop it.
 *
 * <p>It is called now and then, from the thread of the call or from a worker of the library's, one
 * call at a time. What it throws stops the call and is thrown by it. It may search the index whose
 * call it hears of, but not change it.
 */
@FunctionalInterface
public interface Progress {
  /**
   * Hears the share of the work that is done.
   *
   * @param done from 0 to 1
   * @return true to go on; false to stop the call, which then throws {@link
   *     PolarException.Cancelled} and has changed nothing
   */
  boolean update(double done);
}
