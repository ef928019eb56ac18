// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Locale;

/**
 * Finds and loads the two libraries of C: libpolarquant and what lies between it and Java.
 *
 * <p>In this order: from the folder of the property polarquant.library.path, and then from there
 * alone; from this jar, unpacked to a new folder that nobody else can write to and that is removed
 * as soon as they are loaded; from where Java looks for libraries.
 */
final class NativeLibrary {
  private static final String PROPERTY = "polarquant.library.path";
  private static final String CORE = System.mapLibraryName("polarquant");
  private static final String JNI = System.mapLibraryName("polarquant_jni");

  private NativeLibrary() {}

  /** Loads them, once. */
  static void load() {
    Loaded.touch();
  }

  /** Initialized once, by one thread. */
  private static final class Loaded {
    static {
      String folder = System.getProperty(PROPERTY);
      if (folder != null) {
        loadFrom(Paths.get(folder).toAbsolutePath());
      } else if (NativeLibrary.class.getResource(resource(JNI)) != null) {
        loadFromJar();
      } else {
        loadFromSystem();
      }
    }

    static void touch() {}
  }

  private static String resource(String file) {
    return "/natives/" + platform() + "/" + file;
  }

  /** As "linux-x86_64". */
  static String platform() {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String machine = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    if (system.startsWith("windows")) {
      system = "windows";
    } else if (system.startsWith("mac")) {
      system = "macos";
    }
    return system + "-" + (machine.equals("amd64") ? "x86_64" : machine);
  }

  private static void loadFrom(Path folder) {
    // Where it is not there, it is found as the system finds libraries.
    if (Files.exists(folder.resolve(CORE))) {
      System.load(folder.resolve(CORE).toString());
    }
    System.load(folder.resolve(JNI).toString());
  }

  private static void loadFromJar() {
    Path folder = null;
    try {
      // On POSIX systems it is made with rights for its owner alone, under a name drawn at random.
      folder = Files.createTempDirectory("polarquant");
      unpack(CORE, folder);
      unpack(JNI, folder);
      loadFrom(folder);
    } catch (IOException error) {
      throw withAdvice(
          "cannot unpack its libraries to " + System.getProperty("java.io.tmpdir"), error);
    } catch (UnsatisfiedLinkError error) {
      throw withAdvice("cannot load the libraries of its jar", error);
    } finally {
      remove(folder);
    }
  }

  private static void unpack(String file, Path folder) throws IOException {
    try (InputStream source = NativeLibrary.class.getResourceAsStream(resource(file))) {
      if (source != null) {
        Files.copy(source, folder.resolve(file));
      }
    }
  }

  /** A loaded library needs its file no more; where the system keeps it, it goes when Java ends. */
  private static void remove(Path folder) {
    if (folder == null) {
      return;
    }
    for (Path file : new Path[] {folder.resolve(JNI), folder.resolve(CORE), folder}) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException busy) {
        file.toFile().deleteOnExit();
      }
    }
  }

  private static void loadFromSystem() {
    try {
      System.loadLibrary("polarquant");
    } catch (UnsatisfiedLinkError error) {
      // The system finds it by itself, or the next one fails.
    }
    try {
      System.loadLibrary("polarquant_jni");
    } catch (UnsatisfiedLinkError error) {
      throw withAdvice("this jar has no libraries for " + platform(), error);
    }
  }

  private static UnsatisfiedLinkError withAdvice(String what, Throwable cause) {
    UnsatisfiedLinkError error = new UnsatisfiedLinkError("polarquant: " + what + ": "
        + cause.getMessage() + ". The property " + PROPERTY + " can name the folder of " + JNI);
    error.initCause(cause);
    return error;
  }
}
