// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A GPU of this machine. The work on GPUs is done by libpolarquant_cuda, which is loaded when it is
 * first needed: from the path in the environment's POLARQUANT_CUDA_LIBRARY, else from beside
 * libpolarquant, where the property polarquant.library.path says where that is, else from where the
 * system looks.
 */
public final class CudaDevice {
  private final String name;
  private final long[] numbers;

  private CudaDevice(String name, long[] numbers) {
    this.name = name;
    this.numbers = numbers;
  }

  /**
   * The devices; a device's number is its place.
   *
   * @return one or more, an unmodifiable list
   * @throws PolarException.Unsupported without libpolarquant_cuda, and without a device; the text
   *     says which is missing
   * @throws PolarException.Cuda for what the CUDA runtime reports
   */
  public static List<CudaDevice> all() {
    int count = NativeCuda.deviceCount();
    List<CudaDevice> devices = new ArrayList<>();
    for (int device = 0; device < count; ++device) {
      devices.add(get(device));
    }
    return Collections.unmodifiableList(devices);
  }

  /**
   * One device.
   *
   * @param device its number
   * @return what there is to know, at this moment
   */
  public static CudaDevice get(int device) {
    long[] numbers = new long[5];
    String name = Texts.fromUtf8(NativeCuda.deviceInfo(device, numbers));
    return new CudaDevice(name, numbers);
  }

  /**
   * Its name.
   *
   * @return as the CUDA runtime has it
   */
  public String name() {
    return name;
  }

  /**
   * Its compute capability.
   *
   * @return as "9.0"
   */
  public String computeCapability() {
    return numbers[0] + "." + numbers[1];
  }

  /**
   * Its multiprocessors.
   *
   * @return their number
   */
  public int multiprocessors() {
    return (int) numbers[2];
  }

  /**
   * Its memory.
   *
   * @return the bytes
   */
  public long totalBytes() {
    return numbers[3];
  }

  /**
   * Its memory that nobody uses.
   *
   * @return the bytes
   */
  public long freeBytes() {
    return numbers[4];
  }
}
