// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Texts and paths as C takes them. */
final class Texts {
  private Texts() {}

  static String fromUtf8(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  static byte[] toUtf8(String name, String text) {
    if (text.indexOf('\0') >= 0) {
      throw new PolarException.BadArgument(name + ": has a zero character; none is allowed");
    }
    try {
      ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      return Arrays.copyOf(bytes.array(), bytes.remaining());
    } catch (CharacterCodingException error) {
      throw new PolarException.BadArgument(name + ": has half of a character");
    }
  }

  static byte[][] ofPaths(List<Path> paths) {
    return paths.stream().map(Texts::ofPath).toArray(byte[][] ::new);
  }

  /**
   * The system's bytes of a path of the default file system, absolute. Its URI has them as they
   * are, where its text has not: file names need not be texts.
   */
  static byte[] ofPath(Path path) {
    if (path.getFileSystem() != FileSystems.getDefault()) {
      throw new PolarException.BadArgument(
          "path: " + path + " is not of the default file system; use a stream");
    }
    String escaped = path.toUri().getRawPath();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 0; i < escaped.length(); ++i) {
      if (escaped.charAt(i) == '%') {
        bytes.write(Integer.parseInt(escaped.substring(i + 1, i + 3), 16));
        i += 2;
      } else {
        bytes.write(escaped.charAt(i));
      }
    }
    int length = bytes.size();
    // The URI of a folder ends so.
    boolean isFolder = length > 1 && escaped.endsWith("/");
    return Arrays.copyOf(bytes.toByteArray(), isFolder ? length - 1 : length);
  }
}
