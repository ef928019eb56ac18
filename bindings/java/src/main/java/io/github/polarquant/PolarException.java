// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.charset.StandardCharsets;

/**
 * A call of the library that failed; one nested class for each cause. The text names the argument,
 * its value and what is allowed. After a failure nothing has changed.
 */
public class PolarException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The C library's number of the cause. */
  private final int status;

  PolarException(int status, String text) {
    super(text);
    this.status = status;
  }

  /**
   * The C library's number of the cause.
   *
   * @return 10, 20, … to 120, as the constants POLAR_ERROR_… of its header
   */
  public int status() {
    return status;
  }

  /** Called from C, with the text in UTF-8. */
  static PolarException create(int status, byte[] utf8) {
    String text = new String(utf8, StandardCharsets.UTF_8);
    switch (status) {
      case BadArgument.STATUS:
        return new BadArgument(text);
      case Unsupported.STATUS:
        return new Unsupported(text);
      case NotTrained.STATUS:
        return new NotTrained(text);
      case NotFound.STATUS:
        return new NotFound(text);
      case StateMismatch.STATUS:
        return new StateMismatch(text);
      case OutOfMemory.STATUS:
        return new OutOfMemory(text);
      case CorruptData.STATUS:
        return new CorruptData(text);
      case NewerFormat.STATUS:
        return new NewerFormat(text);
      case InputOutput.STATUS:
        return new InputOutput(text);
      case Cuda.STATUS:
        return new Cuda(text);
      case Cancelled.STATUS:
        return new Cancelled(text);
      case Internal.STATUS:
        return new Internal(text);
      default:
        return new PolarException(status, Polarquant.statusName(status) + ": " + text);
    }
  }

  /** An argument is outside what is allowed: a name, a length, a number that is not finite. */
  public static final class BadArgument extends PolarException {
    private static final long serialVersionUID = 1L;
    static final int STATUS = 10;

    BadArgument(String text) {
      super(STATUS, text);
    }
  }

  /** This build of the library, or this codec or index, cannot do it. */
  public static final class Unsupported extends PolarException {
    private static final long serialVersionUID = 1L;
    static final int STATUS = 20;

    Unsupported(String text) {
      super(STATUS, text);
    }
  }

  /** Training must come first. */
  public static final class NotTrained extends PolarException {
    private static final long serialVersionUID = 1L;
    static final int STATUS = 30;

    NotTrained(String text) {
      super(STATUS, text);
    }
  }

  /** No row has this id. */
  public static final class NotFound extends PolarException {
    private static final long serialVersionUID = 1L;
    static final int STATUS = 40;

    NotFound(String text) {
      super(STATUS, text);
    }
  }

  /** Codes, queries or codecs of different states met, or training came after the first rows. */
  public static final class StateMismatch extends PolarException {
    private static final long serialVersionUID = 1L;
    static final int STATUS = 50;

    StateMismatch(String text) {
      super(STATUS, text);
    }
  }

  /** The library could not allocate memory. */
  public static final class OutOfMemory extends PolarException {
    private static final long serialVersionUID = 1L;
    static final int STATUS = 60;

    OutOfMemory(String text) {
      super(STATUS, text);
    }
  }

  /** Stored bytes are damaged, or not polarquant's. */
  public static final class CorruptData extends PolarException {
    private static final long serialVersionUID = 1L;
    static final int STATUS = 70;

    CorruptData(String text) {
      super(STATUS, text);
    }
  }

  /** Stored bytes are of a newer format than this library reads. */
  public static final class NewerFormat extends PolarException {
    private static final long serialVersionUID = 1L;
    static final int STATUS = 80;

    NewerFormat(String text) {
      super(STATUS, text);
    }
  }

  /** Reading or writing a file failed. */
  public static final class InputOutput extends PolarException {
    private static final long serialVersionUID = 1L;
    static final int STATUS = 90;

    InputOutput(String text) {
      super(STATUS, text);
    }
  }

  /** A CUDA call failed. */
  public static final class Cuda extends PolarException {
    private static final long serialVersionUID = 1L;
    static final int STATUS = 100;

    Cuda(String text) {
      super(STATUS, text);
    }
  }

  /** A {@link Progress} said to stop. */
  public static final class Cancelled extends PolarException {
    private static final long serialVersionUID = 1L;
    static final int STATUS = 110;

    Cancelled(String text) {
      super(STATUS, text);
    }
  }

  /** A bug in the library; please report it. */
  public static final class Internal extends PolarException {
    private static final long serialVersionUID = 1L;
    static final int STATUS = 120;

    Internal(String text) {
      super(STATUS, text);
    }
  }
}
