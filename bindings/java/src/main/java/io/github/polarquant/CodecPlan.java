// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What a "…-pca" codec learned. */
public final class CodecPlan {
  private final double[] numbers;
  private final List<Segment> segments;

  private CodecPlan(double[] numbers, List<Segment> segments) {
    this.numbers = numbers;
    this.segments = segments;
  }

  static CodecPlan of(long codec) {
    double[] numbers = NativeCodec.plan(codec);
    List<Segment> segments = new ArrayList<>();
    for (int i = 3; i < numbers.length; i += 4) {
      segments.add(
          new Segment((int) numbers[i], (int) numbers[i + 1], numbers[i + 2], numbers[i + 3]));
    }
    return new CodecPlan(numbers, Collections.unmodifiableList(segments));
  }

  /**
   * Whether rotation and rates are trained.
   *
   * @return false where they gained too little on rows that were held out, so that codes are those
   *     of the untrained codec
   */
  public boolean hasBasis() {
    return numbers[0] != 0;
  }

  /**
   * The mean squared error of rows that were held out, by their squared distance from the centre.
   *
   * @return the error
   */
  public double error() {
    return numbers[1];
  }

  /**
   * The same of the untrained codec.
   *
   * @return the error
   */
  public double untrainedError() {
    return numbers[2];
  }

  /**
   * The parts of a vector, by falling variance.
   *
   * @return an unmodifiable list
   */
  public List<Segment> segments() {
    return segments;
  }

  /** Rotated coordinates that have one rate. */
  public static final class Segment {
    private final int first;
    private final int dim;
    private final double bits;
    private final double scale;

    Segment(int first, int dim, double bits, double scale) {
      this.first = first;
      this.dim = dim;
      this.bits = bits;
      this.scale = scale;
    }

    /**
     * Its first coordinate.
     *
     * @return from 0 on
     */
    public int first() {
      return first;
    }

    /**
     * Its coordinates.
     *
     * @return 64, or fewer in the last one
     */
    public int dim() {
      return dim;
    }

    /**
     * Bits a dimension.
     *
     * @return 0, where nothing of it is stored, to 8
     */
    public double bits() {
      return bits;
    }

    /**
     * The standard deviation of its coordinates.
     *
     * @return in units of a row's length by the root of dim
     */
    public double scale() {
      return scale;
    }
  }
}
