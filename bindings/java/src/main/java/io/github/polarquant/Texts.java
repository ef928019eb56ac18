// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Arrays;

/** Texts and paths as C takes them. */
final class Texts {
  /** What file names are encoded by. */
  private static final Charset FILE_NAMES =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

  private Texts() {}

  static String fromUtf8(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  static byte[] toUtf8(String name, String text) {
    return encode(name, text, StandardCharsets.UTF_8);
  }

  /** The system's bytes of a path of the default file system. */
  static byte[] ofPath(Path path) {
    if (path.getFileSystem() != FileSystems.getDefault()) {
      throw new PolarException.BadArgument(
          "path: " + path + " is not of the default file system; use a stream");
    }
    return encode("path", path.toString(), FILE_NAMES);
  }

  private static byte[] encode(String name, String text, Charset charset) {
    if (text.indexOf('\0') >= 0) {
      throw new PolarException.BadArgument(name + ": has a zero character; none is allowed");
    }
    try {
      ByteBuffer bytes = charset.newEncoder().encode(CharBuffer.wrap(text));
      return Arrays.copyOf(bytes.array(), bytes.remaining());
    } catch (CharacterCodingException impossible) {
      throw new PolarException.BadArgument(
          name + ": \"" + text + "\" has characters that " + charset + " has not");
    }
  }
}
