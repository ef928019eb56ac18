// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** How a codec is made. Immutable. */
public final class CodecOptions {
  /** Seed 1, and a centre and unit that training learns. */
  public static final CodecOptions DEFAULT = new CodecOptions(1, null, true, 0);

  private final long seed;
  private final float[] centre;
  private final boolean learnCentre;
  private final double normUnit;

  private CodecOptions(long seed, float[] centre, boolean learnCentre, double normUnit) {
    this.seed = seed;
    this.centre = centre;
    this.learnCentre = learnCentre;
    this.normUnit = normUnit;
  }

  /**
   * These options with a seed of the random rotation.
   *
   * @param seed any value, taken as an unsigned number
   * @return new options
   */
  public CodecOptions withSeed(long seed) {
    return new CodecOptions(seed, centre, learnCentre, normUnit);
  }

  /**
   * These options with a centre.
   *
   * @param centre (dim), copied; null, the default: learned by training, else 0
   * @return new options
   */
  public CodecOptions withCentre(float[] centre) {
    float[] copy = centre == null ? null : centre.clone();
    return new CodecOptions(seed, copy, learnCentre, normUnit);
  }

  /**
   * These options, with or without a centre that is learned.
   *
   * @param learnCentre whether training may set the centre to the rows' mean; true by default
   * @return new options
   */
  public CodecOptions withLearnCentre(boolean learnCentre) {
    return new CodecOptions(seed, centre, learnCentre, normUnit);
  }

  /**
   * These options with a typical distance of a row from the centre.
   *
   * @param normUnit 2^-40 to 2^40; 0, the default: learned, 1 before
   * @return new options
   */
  public CodecOptions withNormUnit(double normUnit) {
    return new CodecOptions(seed, centre, learnCentre, normUnit);
  }

  long makeCodec(String spec, int dim, Metric metric) {
    if (centre != null) {
      Shapes.check("centre", centre.length, dim);
    }
    return NativeCodec.create(Texts.toUtf8("spec", spec), dim, metric.number(), seed,
        centre == null ? null : Slice.of(centre), learnCentre, normUnit);
  }
}
