// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.Arrays;

/** What codecs make, tell and find. */
final class CodecTest {
  private static final int DIM = 96;
  private final float[] x = Rows.random(4, 300, DIM);

  @Test
  void tellsWhatItIs() {
    CodecOptions options = CodecOptions.DEFAULT.withSeed(-1).withNormUnit(8);
    try (Codec codec = new Codec("Polar4", DIM, Metric.L2, options)) {
      CodecInfo info = codec.info();
      Expect.equal(codec.spec(), "Polar4");
      Expect.equal(codec.dim(), info.dim());
      Expect.equal(codec.metric(), info.metric());
      Expect.equal(codec.codeSize(), info.codeBytes());
      Expect.equal(info.seed(), -1);
      Expect.equal(info.normUnit(), 8);
      Expect.equal(info.groupRows(), 1);
      Expect.equal(info.tailRowBytes(), 0);
      Expect.equal(info.stateOrigin(), 0);
      Expect.isTrue(info.isTrained() && info.factorBytes() > 0 && info.stateId() != 0, "info");
      Expect.isTrue(info.bitsPerDim() > 4 && info.bitsPerDim() < 6 && info.mse() > 0, "bits");
      Expect.equal(info.centreNorm(), 0);
      Expect.isTrue(codec.memoryBytes() > 0, "memory");
      Expect.equal(codec.encodedBytes(10), 10 * codec.codeSize());
      Expect.equal(codec.toString(), "Codec(Polar4, dim 96, L2)");
    }
  }

  @Test
  void learnsACentreOrTakesOne() {
    float[] shifted = x.clone();
    for (int i = 0; i < shifted.length; ++i) {
      shifted[i] += 3;
    }
    try (Codec codec = new Codec("Polar4", DIM, Metric.L2)) {
      codec.train(shifted);
      Expect.isTrue(Math.abs(codec.centre()[5] - 3) < .5, "centre " + codec.centre()[5]);
      Expect.equal(codec.info().stateOrigin(), 2);
      codec.encode(x);
      Expect.thrown(PolarException.StateMismatch.class, () -> codec.train(x), "encoded");
    }
    float[] centre = Rows.row(x, 0, DIM);
    try (Codec codec =
             new Codec("Polar4", DIM, Metric.L2, CodecOptions.DEFAULT.withCentre(centre))) {
      Expect.equal(codec.centre(), centre);
    }
    Expect.thrown(PolarException.BadArgument.class,
        ()
            -> new Codec("Polar4", DIM + 1, Metric.L2, CodecOptions.DEFAULT.withCentre(centre)),
        "centre");
  }

  @Test
  void encodesDecodesAndSearches() {
    try (Codec codec = new Codec("Polar8", DIM, Metric.L2)) {
      byte[] codes = codec.encode(x);
      float[] decoded = codec.decode(codes);
      double error = 0;
      for (int i = 0; i < x.length; ++i) {
        error += Math.pow(x[i] - decoded[i], 2);
      }
      Expect.isTrue(error / x.length < .001, "error " + error / x.length);
      FloatBuffer unbiased = FloatBuffer.allocate(x.length);
      codec.decode(
          ByteBuffer.wrap(codes), 300, Reconstruction.UNBIASED, unbiased, WorkOptions.DEFAULT);
      Expect.equal(unbiased.position(), 0);
      Expect.equal(codec.search(Rows.row(x, 9, DIM), codes, 2).id(0), 9);
    }
  }

  @Test
  void scoresPreparedQueries() {
    try (Codec codec = new Codec("Polar8", DIM, Metric.INNER_PRODUCT)) {
      byte[] codes = codec.encode(x);
      ByteBuffer buffer = ByteBuffer.wrap(codes);
      float[] q = Rows.row(x, 1, DIM);
      try (Query query = codec.prepareQuery(q);
           Query coded = codec.prepareQueryFromCode(buffer, 300, 1)) {
        float[] scores = codec.score(query, codes);
        float[] similar = codec.score(coded, codes);
        double exact = 0;
        for (int i = 0; i < DIM; ++i) {
          exact += q[i] * x[5 * DIM + i];
        }
        Expect.isTrue(Math.abs(scores[5] - exact) < .5, scores[5] + ", exactly " + exact);
        Expect.isTrue(Math.abs(similar[5] - exact) < .5, similar[5] + ", exactly " + exact);
        try (Codec other = new Codec("Polar4", DIM, Metric.INNER_PRODUCT)) {
          byte[] others = other.encode(x);
          Expect.thrown(PolarException.StateMismatch.class, () -> other.score(query, others));
        }
      }
      FloatBuffer between = FloatBuffer.allocate(2 * 300);
      ByteBuffer two = ByteBuffer.wrap(codes, 0, 2 * codec.codeSize());
      codec.scoreCodes(two, 2, buffer, 300, between, WorkOptions.DEFAULT);
      Expect.isTrue(between.get(1) != 0 && between.get(1) == between.get(300), "symmetric");
    }
  }

  @Test
  void combinesRows() {
    try (Codec codec = new Codec("Polar8", DIM, Metric.INNER_PRODUCT)) {
      byte[] codes = codec.encode(x);
      float[] weights = new float[2 * 300];
      weights[4] = 1;
      weights[300 + 5] = 2;
      FloatBuffer out = FloatBuffer.allocate(2 * DIM);
      codec.combine(
          ByteBuffer.wrap(codes), 300, FloatBuffer.wrap(weights), out, WorkOptions.DEFAULT);
      float[] decoded = codec.decode(codes);
      for (int i = 0; i < DIM; ++i) {
        Expect.isTrue(Math.abs(out.get(i) - decoded[4 * DIM + i]) < 1e-5, "sum");
        Expect.isTrue(Math.abs(out.get(DIM + i) - 2 * decoded[5 * DIM + i]) < 1e-5, "sum");
      }
    }
  }

  @Test
  void keepsItsState() {
    try (Codec codec = new Codec("Polar4", DIM, Metric.L2)) {
      codec.train(x);
      byte[] state = codec.saveState();
      try (Codec loaded = Codec.loadState(state);
           Codec other = new Codec("Polar4", DIM, Metric.L2)) {
        Expect.equal(loaded.encode(x), codec.encode(x));
        loaded.checkSameState(codec);
        Expect.thrown(PolarException.StateMismatch.class, () -> codec.checkSameState(other));
      }
      Expect.thrown(
          PolarException.CorruptData.class, () -> Codec.loadState(Arrays.copyOf(state, 40)));
      Expect.thrown(PolarException.CorruptData.class, () -> Codec.loadState(new byte[0]));
    }
  }

  @Test
  void plansByTraining() {
    float[] rows = Rows.random(5, 2000, DIM);
    for (int i = 0; i < rows.length; ++i) {
      rows[i] *= 1.0f / (1 + i % DIM);
    }
    try (Codec codec = new Codec("Polar2-pca", DIM, Metric.L2);
         Codec plain = new Codec("Polar2", DIM, Metric.L2)) {
      Expect.thrown(PolarException.NotTrained.class, codec::plan);
      Expect.thrown(PolarException.NotTrained.class, () -> codec.encode(rows));
      Expect.thrown(PolarException.Unsupported.class, plain::plan);
      codec.train(FloatBuffer.wrap(rows), WorkOptions.DEFAULT.withNumThreads(2));
      CodecPlan plan = codec.plan();
      Expect.isTrue(plan.hasBasis() && plan.error() < plan.untrainedError(), "plan");
      Expect.equal(plan.segments().size(), 2);
      Expect.equal(plan.segments().get(1).first(), 64);
      Expect.equal(plan.segments().get(1).dim(), 32);
      Expect.isTrue(plan.segments().get(0).bits() > plan.segments().get(1).bits(), "bits");
      Expect.isTrue(plan.segments().get(0).scale() > plan.segments().get(1).scale(), "scale");
      double drift = codec.drift(FloatBuffer.wrap(rows), WorkOptions.DEFAULT);
      Expect.isTrue(drift > .5 && drift < 1.5, "drift " + drift);
    }
  }

  @Test
  void needsTheNumberOfGroupedRows() {
    float[] rows = Rows.random(6, 1300, 32);
    try (Codec codec = new Codec("PolarPair4x4g128", 32, Metric.L2)) {
      codec.train(rows);
      byte[] codes = codec.encode(rows);
      Expect.equal(codes.length, codec.encodedBytes(1300));
      Expect.thrown(PolarException.BadArgument.class, () -> codec.decode(codes), "number");
      ByteBuffer buffer = ByteBuffer.wrap(codes);
      SearchResult found =
          codec.search(FloatBuffer.wrap(rows, 0, 32), buffer, 1300, 1, SearchOptions.DEFAULT);
      Expect.isTrue(found.id(0) >= 0, "a row");
      Expect.thrown(PolarException.BadArgument.class,
          ()
              -> codec.search(
                  FloatBuffer.wrap(rows, 0, 32), buffer, 9999, 1, SearchOptions.DEFAULT));
    }
  }
}
