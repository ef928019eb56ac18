// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.util.Arrays;
import java.util.BitSet;

/** Codes in blocks. */
final class CodeBlocksTest {
  private static final int DIM = 64;
  private final float[] x = Rows.random(7, 500, DIM);

  @Test
  void keepsRowsThroughChanges() {
    try (Codec codec = new Codec("Polar4", DIM, Metric.INNER_PRODUCT);
         CodeBlocks blocks = new CodeBlocks(codec)) {
      byte[] codes = codec.encode(x);
      int size = codec.codeSize();
      Expect.equal(blocks.size(), 0);
      for (int row = 0; row < 500; row += 50) {
        blocks.append(Arrays.copyOfRange(codes, row * size, (row + 50) * size));
      }
      Expect.equal(blocks.size(), 500);
      Expect.equal(blocks.get(0, 500), codes);
      Expect.isTrue(blocks.memoryBytes() >= 500 * size, "memory");
      Expect.isTrue(blocks.codec() == codec, "codec");
      byte[] first = Arrays.copyOf(codes, size);
      blocks.overwrite(7, first);
      Expect.equal(blocks.get(7, 1), first);
      blocks.swapRemove(0);
      Expect.equal(blocks.size(), 499);
      Expect.equal(blocks.get(0, 1), Arrays.copyOfRange(codes, 499 * size, 500 * size));
      BitSet removed = new BitSet();
      removed.set(1, 99);
      Expect.equal(blocks.remove(removed), 401);
      Expect.equal(blocks.get(1, 1), Arrays.copyOfRange(codes, 99 * size, 100 * size));
      Expect.equal(blocks.search(Rows.row(x, 200, DIM), 1).id(0), 102);
    }
  }

  @Test
  void refusesRowsThatAreNotThere() {
    try (Codec codec = new Codec("Polar2", DIM, Metric.L2);
         CodeBlocks blocks = new CodeBlocks(codec, codec.encode(x))) {
      byte[] code = codec.encode(Rows.row(x, 0, DIM));
      BitSet removed = new BitSet();
      removed.set(500);
      Class<PolarException.BadArgument> bad = PolarException.BadArgument.class;
      Expect.thrown(bad, () -> blocks.get(500, 1));
      Expect.thrown(bad, () -> blocks.get(-1, 1));
      Expect.thrown(bad, () -> blocks.get(0, -1));
      Expect.thrown(bad, () -> blocks.get(Long.MAX_VALUE, 1));
      Expect.thrown(bad, () -> blocks.overwrite(500, code));
      Expect.thrown(bad, () -> blocks.overwrite(-1, code));
      Expect.thrown(bad, () -> blocks.overwrite(0, new byte[1]));
      Expect.thrown(bad, () -> blocks.swapRemove(500));
      Expect.thrown(bad, () -> blocks.remove(removed), "500");
      Expect.thrown(bad, () -> blocks.append(new byte[codec.codeSize() + 1]));
      Expect.equal(blocks.remove(new BitSet()), 500);
      Expect.thrown(PolarException.Unsupported.class, () -> {
        try (Codec scalar = new Codec("PolarScalar4", DIM, Metric.L2)) {
          new CodeBlocks(scalar);
        }
      });
    }
  }
}
