// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Several class loaders of one Java, as servers have them. */
final class ClassLoaderTest {
  private static final Path JAR =
      Paths.get(System.getProperty("polarquant.test.out", "."), "polarquant-0.1.0.jar");

  private static URLClassLoader loader() throws Exception {
    return new URLClassLoader(
        new URL[] {JAR.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
  }

  /** Makes an index by the classes of a loader, and fails once. */
  private static void use(ClassLoader loader) throws Exception {
    Class<?> type = loader.loadClass("io.github.polarquant.Index");
    Expect.isTrue(type != Index.class, "a class of its own");
    Class<?> metric = loader.loadClass("io.github.polarquant.Metric");
    Constructor<?> make = type.getConstructor(String.class, int.class, metric);
    try (AutoCloseable index =
             (AutoCloseable) make.newInstance("Polar4", 8, metric.getEnumConstants()[0])) {
      type.getMethod("add", float[].class)
          .invoke(index, new Object[] {new float[] {1, 2, 3, 4, 5, 6, 7, 8}});
      Object found =
          type.getMethod("search", float[].class, int.class).invoke(index, new float[8], 1);
      Expect.equal(found.getClass().getMethod("id", int.class).invoke(found, 0), 0L);
      try {
        type.getMethod("reconstruct", long.class).invoke(index, 9L);
      } catch (ReflectiveOperationException error) {
        Expect.equal(
            error.getCause().getClass().getName(), "io.github.polarquant.PolarException$NotFound");
        Expect.isTrue(error.getCause().getClass().getClassLoader() == loader, "of its own");
      }
    }
  }

  @Test
  void eachHasItsOwn() throws Exception {
    try (URLClassLoader first = loader(); URLClassLoader second = loader()) {
      use(first);
      use(second);
      use(first);
    }
  }

  @Test
  void loadersCanGo() throws Exception {
    WeakReference<ClassLoader> gone = new WeakReference<>(usedAndClosed());
    for (int i = 0; i < 200 && gone.get() != null; ++i) {
      System.gc();
      Thread.sleep(10);
    }
    Expect.isTrue(gone.get() == null, "the class loader is still there");
    try (URLClassLoader next = loader()) {
      use(next);
    }
  }

  private static ClassLoader usedAndClosed() throws Exception {
    try (URLClassLoader loader = loader()) {
      use(loader);
      return loader;
    }
  }
}
