// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.nio.ReadOnlyBufferException;

/** Elements of an array or of a direct buffer, for C to read or write. C reads the fields. */
final class Slice {
  private static final int FLOATS = 0;
  private static final int BYTES = 1;
  private static final int LONGS = 2;
  private static final int DIRECT = 4;

  /** An array of a primitive type, or a direct buffer. */
  final Object memory;

  /** What the memory has, with DIRECT for a buffer. */
  final int kind;

  /** In elements, from the beginning of the memory. */
  final long offset;

  /** In elements. */
  final long count;

  private Slice(Object memory, int kind, long offset, long count) {
    this.memory = memory;
    this.kind = kind;
    this.offset = offset;
    this.count = count;
  }

  static Slice of(float[] array) {
    return new Slice(array, FLOATS, 0, array.length);
  }

  static Slice of(byte[] array) {
    return new Slice(array, BYTES, 0, array.length);
  }

  static Slice of(long[] array) {
    return new Slice(array, LONGS, 0, array.length);
  }

  /** Of what the buffer has from its position to its limit, to be read. */
  static Slice of(FloatBuffer buffer) {
    if (buffer.isDirect()) {
      checkOrder(buffer.order());
      return direct(buffer, FLOATS);
    }
    if (buffer.hasArray()) {
      int offset = buffer.arrayOffset() + buffer.position();
      return new Slice(buffer.array(), FLOATS, offset, buffer.remaining());
    }
    // A read-only buffer over an array, or one over bytes.
    float[] copy = new float[buffer.remaining()];
    buffer.duplicate().get(copy);
    return of(copy);
  }

  static Slice of(ByteBuffer buffer) {
    if (buffer.isDirect()) {
      return direct(buffer, BYTES);
    }
    if (buffer.hasArray()) {
      int offset = buffer.arrayOffset() + buffer.position();
      return new Slice(buffer.array(), BYTES, offset, buffer.remaining());
    }
    byte[] copy = new byte[buffer.remaining()];
    buffer.duplicate().get(copy);
    return of(copy);
  }

  /** Of what the buffer has from its position to its limit, to be written. */
  static Slice ofOutput(String name, FloatBuffer buffer) {
    checkWritable(name, buffer, buffer.hasArray());
    return of(buffer);
  }

  static Slice ofOutput(String name, ByteBuffer buffer) {
    checkWritable(name, buffer, buffer.hasArray());
    return of(buffer);
  }

  static Slice ofOutput(String name, LongBuffer buffer) {
    checkWritable(name, buffer, buffer.hasArray());
    if (buffer.isDirect()) {
      checkOrder(buffer.order());
      return direct(buffer, LONGS);
    }
    int offset = buffer.arrayOffset() + buffer.position();
    return new Slice(buffer.array(), LONGS, offset, buffer.remaining());
  }

  private static Slice direct(Buffer buffer, int kind) {
    return new Slice(buffer, kind | DIRECT, buffer.position(), buffer.remaining());
  }

  private static void checkWritable(String name, Buffer buffer, boolean hasArray) {
    if (buffer.isReadOnly()) {
      throw new ReadOnlyBufferException();
    }
    if (!buffer.isDirect() && !hasArray) {
      throw new PolarException.BadArgument(
          name + ": is a view of other elements in an array; take a direct buffer");
    }
  }

  private static void checkOrder(ByteOrder order) {
    if (order != ByteOrder.nativeOrder()) {
      throw new PolarException.BadArgument("a direct buffer of byte order " + order
          + " is not allowed; " + ByteOrder.nativeOrder() + ", by order(ByteOrder.nativeOrder())");
    }
  }
}
