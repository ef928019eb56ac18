// SPDX-License-Identifier: MIT
package io.github.polarquant;

/** All numbers of a codec, at one moment. */
public final class CodecInfo {
  private final long[] whole;
  private final double[] real;

  private CodecInfo(long[] whole, double[] real) {
    this.whole = whole;
    this.real = real;
  }

  static CodecInfo of(long codec) {
    long[] whole = new long[10];
    double[] real = new double[4];
    NativeCodec.info(codec, whole, real);
    return new CodecInfo(whole, real);
  }

  /**
   * Dimensions of a vector.
   *
   * @return 1 to 65535
   */
  public int dim() {
    return (int) whole[0];
  }

  /**
   * How scores are measured.
   *
   * @return the metric
   */
  public Metric metric() {
    return Metric.byNumber(whole[1]);
  }

  /**
   * Whether rows can be encoded.
   *
   * @return false only while {@code encode} must wait for {@code train}
   */
  public boolean isTrained() {
    return whole[2] != 0;
  }

  /**
   * Where centre and unit come from.
   *
   * @return 0 as created, 1 from an index's first rows in states of earlier versions, 2 trained
   */
  public int stateOrigin() {
    return (int) whole[3];
  }

  /**
   * Rows that share a code.
   *
   * @return 1 for all but "PolarPair…g128"
   */
  public int groupRows() {
    return (int) whole[4];
  }

  /**
   * The seed of the rotation.
   *
   * @return an unsigned number
   */
  public long seed() {
    return whole[5];
  }

  /**
   * Bytes of one code, of {@link #groupRows} rows, factors included.
   *
   * @return the bytes
   */
  public long codeBytes() {
    return whole[6];
  }

  /**
   * Bytes of a code that are factors.
   *
   * @return 0 for codecs without factors
   */
  public long factorBytes() {
    return whole[7];
  }

  /**
   * Bytes of a row of the unfinished last group.
   *
   * @return 0 when {@link #groupRows} is 1
   */
  public long tailRowBytes() {
    return whole[8];
  }

  /**
   * A number that is equal exactly for codecs whose codes mix.
   *
   * @return an unsigned number
   */
  public long stateId() {
    return whole[9];
  }

  /**
   * Bits a dimension, factors included.
   *
   * @return the bits
   */
  public double bitsPerDim() {
    return real[0];
  }

  /**
   * The squared error a dimension on the unit Gaussian.
   *
   * @return 0 where it is not defined
   */
  public double mse() {
    return real[1];
  }

  /**
   * The length of the centre.
   *
   * @return 0 where there is none
   */
  public double centreNorm() {
    return real[2];
  }

  /**
   * A power of two near the typical distance of a row from the centre.
   *
   * @return the unit
   */
  public double normUnit() {
    return real[3];
  }
}
