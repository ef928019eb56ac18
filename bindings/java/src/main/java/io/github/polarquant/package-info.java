// SPDX-License-Identifier: MIT

/**
 * Compresses embedding vectors to 0.5 to 8 bits a dimension, and searches the compressed codes.
 *
 * <p>{@link io.github.polarquant.Index} keeps rows and searches them. {@link
 * io.github.polarquant.Codec} makes codes that you keep yourself, and {@link
 * io.github.polarquant.CodeBlocks} keeps such codes in the order that is searched fastest. {@link
 * io.github.polarquant.Advice} tells which code to take for your vectors. {@link
 * io.github.polarquant.IndexBuilder} makes an index file of more rows than memory holds.
 *
 * <h2>Vectors</h2>
 *
 * Vectors are 32-bit floats, one row after the other: {@code n} rows of {@code dim} numbers are an
 * array or a buffer of {@code n * dim} finite floats. A direct {@link java.nio.FloatBuffer}, of the
 * machine's byte order, is read and written where it lies. A {@code float[]}, or a buffer over one,
 * is copied to memory of C's for the time of the call, so that no call holds the garbage collector
 * back: next to nothing for queries; take a direct buffer for more rows than you want in memory
 * twice. A {@code byte[]} of codes is not copied by searches and scores without a callback: they
 * hold the garbage collector back, so take a direct {@link java.nio.ByteBuffer} for codes that take
 * long to search. Buffers are used from their position to their limit, which stay as they are.
 *
 * <h2>Errors</h2>
 *
 * A call of the library that fails throws a {@link io.github.polarquant.PolarException}, of one
 * class for each cause; nothing has changed then. A closed object throws {@link
 * java.lang.IllegalStateException}, and a null where none is allowed {@link
 * java.lang.NullPointerException}.
 *
 * <h2>Threads and closing</h2>
 *
 * Every object can be used by any number of threads; what changes a {@code Codec} or {@code
 * CodeBlocks} waits for the calls that run on it, and an {@code Index} is searched beside most of
 * its changes. Objects hold memory of C's: close them, best by try-with-resources. {@code close}
 * can be called at any time and more than once: calls that run on other threads end as they would,
 * and the last of them gives the memory back. What is not closed is given back some time after it
 * became unreachable.
 */
package io.github.polarquant;
