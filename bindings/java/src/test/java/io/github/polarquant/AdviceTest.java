// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.FloatBuffer;

/** Which code is recommended, and why. */
final class AdviceTest {
  private static final int DIM = 64;
  private final float[] x = Rows.random(11, 1500, DIM);

  @Test
  void recommendsACode() {
    AdviceOptions options = AdviceOptions.DEFAULT.withSpecs("Polar1", "Polar4", "Polar8")
                                .withWantedRecall(.7)
                                .withK(5)
                                .withMaxRows(800)
                                .withMaxQueries(50)
                                .withTotalRows(5000)
                                .withSeed(3)
                                .withNumThreads(2);
    Advice advice = Advice.measure(FloatBuffer.wrap(x), null, DIM, Metric.L2, options);
    Expect.equal(advice.rows().size(), 3);
    Expect.isTrue(advice.heldOutQueries() && !advice.reason().isEmpty(), advice.reason());
    Expect.equal(advice.queries(), 50);
    Expect.isTrue(advice.baseRows() > 0 && advice.baseRows() <= 800, "rows");
    Expect.isTrue(advice.trainRows() > 0, "rows");
    AdviceRow taken = advice.recommended().get();
    Expect.isTrue(taken.isRecommended() && taken.recall() >= .7, taken.toString());
    Expect.isTrue(!taken.spec().equals("Polar1") && taken.problem().isEmpty(), taken.spec());
    Expect.isTrue(!taken.needsTraining() && taken.bytesPerVector() > 32, taken.spec());
    Expect.isTrue(taken.error() > 0 && taken.codecBytes() > 0, "numbers");
    Expect.isTrue(taken.expectedRecall() > 0 && taken.quarterRecall() > 0, "recall");
    Expect.isTrue(taken.recallMargin() > 0 && taken.gain() == 0 && taken.gainMargin() == 0, "gain");
    Expect.isTrue(advice.toString().contains("<- take this"), advice.toString());
    AdviceOptions few = options.withWantedRecall(0).withAllowedBytes(1);
    Expect.isTrue(
        !Advice.measure(FloatBuffer.wrap(x), null, DIM, Metric.L2, few).recommended().isPresent(),
        "nothing fits");
  }

  @Test
  void takesQueriesAndRefusesWrongOnes() {
    AdviceOptions options = AdviceOptions.DEFAULT.withSpecs("Polar4").withK(2);
    FloatBuffer queries = FloatBuffer.wrap(Rows.random(12, 20, DIM));
    Advice advice = Advice.measure(FloatBuffer.wrap(x), queries, DIM, Metric.COSINE, options);
    Expect.isTrue(!advice.heldOutQueries(), "queries were given");
    Class<PolarException.BadArgument> bad = PolarException.BadArgument.class;
    Expect.thrown(bad, () -> Advice.measure(new float[DIM], DIM, Metric.L2));
    Expect.thrown(bad, () -> Advice.measure(x, 0, Metric.L2), "dim");
    Expect.thrown(bad, () -> Advice.measure(x, 7, Metric.L2), "multiple");
    Expect.thrown(bad,
        ()
            -> Advice.measure(
                FloatBuffer.wrap(x), null, DIM, Metric.L2, AdviceOptions.DEFAULT.withSpecs("No")),
        "No");
    AdviceOptions stops = options.withProgress(done -> false);
    Expect.thrown(PolarException.Cancelled.class,
        () -> Advice.measure(FloatBuffer.wrap(x), null, DIM, Metric.L2, stops));
  }
}
