// SPDX-License-Identifier: MIT
package io.github.polarquant;

/**
 * A filter for many searches, made by {@link Filter#prepare}. It keeps which rows of the last four
 * indexes it leaves, and is found anew after a change of their rows. Any number of threads and
 * indexes can use one; searches that run when it is closed end as they would.
 */
public final class PreparedFilter extends Filter implements AutoCloseable {
  private final Use use;

  PreparedFilter(long handle) {
    super(handle);
    use = Use.shared(this, "PreparedFilter", handle, NativeFilter::destroy);
  }

  @Override
  Use preparedUse() {
    return use;
  }

  /** Gives its memory back, once no search uses it. Can be called more than once. */
  @Override
  public void close() {
    use.close();
  }
}
