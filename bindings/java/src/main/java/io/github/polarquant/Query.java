// SPDX-License-Identifier: MIT
package io.github.polarquant;

/**
 * A query prepared for one codec: rotated and centred once, scored many times. Immutable. Made by
 * {@link Codec#prepareQuery} and {@link Codec#prepareQueryFromCode}.
 */
public final class Query implements AutoCloseable {
  private final Use use;

  Query(long handle) {
    use = Use.shared(this, "Query", handle, NativeCodec::destroyQuery);
  }

  Use use() {
    return use;
  }

  /** Gives its memory back, once no call uses it. Can be called more than once. */
  @Override
  public void close() {
    use.close();
  }
}
