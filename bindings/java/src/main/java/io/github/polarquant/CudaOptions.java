// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.util.Objects;

/** Where an index is copied to. Immutable. */
public final class CudaOptions {
  /** The first device. */
  public static final CudaOptions DEFAULT = new CudaOptions(0, 0, null, Layout.SHARDED);

  /** What each of several devices has of an index. */
  public enum Layout {
    /** A part of the rows; it searches these for every query. */
    SHARDED,
    /** All rows; it searches them for a part of the queries. */
    REPLICATED
  }

  final int numThreads;
  final int device;
  final int[] devices;
  final Layout layout;

  private CudaOptions(int numThreads, int device, int[] devices, Layout layout) {
    this.numThreads = numThreads;
    this.device = device;
    this.devices = devices;
    this.layout = layout;
  }

  /**
   * These options with a number of threads of the host's.
   *
   * @param numThreads 0 to 1024; 0, the default, is OpenMP's
   * @return new options
   */
  public CudaOptions withNumThreads(int numThreads) {
    return new CudaOptions(numThreads, device, devices, layout);
  }

  /**
   * These options with one device.
   *
   * @param device its place in {@link CudaDevice#all}
   * @return new options
   */
  public CudaOptions withDevice(int device) {
    return new CudaOptions(numThreads, device, null, layout);
  }

  /**
   * These options with several devices.
   *
   * @param layout what each of them has
   * @param devices 1 to 64 places in {@link CudaDevice#all}; one may be there more than once
   * @return new options
   */
  public CudaOptions withDevices(Layout layout, int... devices) {
    Objects.requireNonNull(layout, "layout");
    return new CudaOptions(numThreads, device, devices.clone(), layout);
  }
}
