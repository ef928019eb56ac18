// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Runs the tests, with --slow those that take long too; of the property polarquant.test.word, where
 * it is set, only those whose name has it. Ends with 1 if one fails.
 */
final class Tests {
  private static final List<Class<?>> CLASSES = Arrays.asList(ConformanceTest.class,
      IndexTest.class, IndexChangesTest.class, IndexFilesTest.class, IndexBuilderTest.class,
      PartialsTest.class, CodecTest.class, CodeBlocksTest.class, FilterTest.class, BufferTest.class, CallbackTest.class,
      AdviceTest.class, CudaTest.class, PlainDevicesTest.class, ClassLoaderTest.class,
      AbuseTest.class, ThreadTest.class, PackageTest.class);

  private Tests() {}

  public static void main(String[] arguments) throws Exception {
    boolean slow = Arrays.asList(arguments).contains("--slow");
    String word = System.getProperty("polarquant.test.word", "");
    int passed = 0;
    int failed = 0;
    for (Class<?> type : CLASSES) {
      Method[] methods = type.getDeclaredMethods();
      Arrays.sort(methods, Comparator.comparing(Method::getName));
      for (Method method : methods) {
        Test test = method.getAnnotation(Test.class);
        String name = type.getSimpleName() + "." + method.getName();
        if (test == null || test.slow() && !slow || !name.contains(word)) {
          continue;
        }
        if (runs(type, method, name)) {
          ++passed;
        } else {
          ++failed;
        }
      }
    }
    System.out.println(passed + " tests passed, " + failed + " failed");
    System.exit(failed == 0 && passed > 0 ? 0 : 1);
  }

  private static boolean runs(Class<?> type, Method method, String name) throws Exception {
    long begin = System.nanoTime();
    try {
      method.invoke(type.getDeclaredConstructor().newInstance());
      System.out.printf("ok   %s, %d ms%n", name, (System.nanoTime() - begin) / 1_000_000);
      return true;
    } catch (InvocationTargetException error) {
      System.out.println("FAIL " + name);
      error.getCause().printStackTrace(System.out);
      return false;
    }
  }
}
