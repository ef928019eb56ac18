// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** The jars, the module, how libraries are loaded, and that the README's example is the file's. */
final class PackageTest {
  private static final Path OUT = Paths.get(System.getProperty("polarquant.test.out", "."));
  private static final Path JAR = OUT.resolve("polarquant-0.1.0.jar");
  private static final Path HERE = Vectors.ROOT.resolve("bindings/java");
  private static final String EXAMPLE =
      HERE.resolve("examples/first_search.java").toAbsolutePath().toString();

  private static List<String> names(String file) throws Exception {
    try (JarFile jar = new JarFile(OUT.resolve(file).toFile())) {
      return jar.stream().map(entry -> entry.getName()).collect(Collectors.toList());
    }
  }

  @Test
  void jarsHaveWhatTheyShould() throws Exception {
    String natives = "natives/" + NativeLibrary.platform() + "/";
    List<String> names = names("polarquant-0.1.0.jar");
    for (String wanted :
        Arrays.asList("module-info.class", "META-INF/LICENSE", "io/github/polarquant/Index.class",
            natives + "libpolarquant_jni.so", natives + "libpolarquant.so")) {
      Expect.isTrue(names.contains(wanted), "no " + wanted);
    }
    for (String name : names) {
      Expect.isTrue(!name.contains("Test") && !name.endsWith(".java"), name);
    }
    Expect.isTrue(names("polarquant-0.1.0-sources.jar").contains("io/github/polarquant/Index.java"),
        "source");
    Expect.isTrue(names("polarquant-0.1.0-javadoc.jar")
                      .contains("io.github.polarquant/io/github/polarquant/Index.html"),
        "page");
    try (
        JarFile jar = new JarFile(JAR.toFile());
        InputStream source = jar.getInputStream(jar.getEntry("io/github/polarquant/Index.class"))) {
      byte[] head = source.readNBytes(8);
      Expect.equal(head[7], 55); // Java 11's class files
      String version = jar.getManifest().getMainAttributes().getValue("Implementation-Version");
      Expect.equal(version, "0.1.0");
    }
  }

  @Test
  void theModuleExportsOnePackage() {
    ModuleDescriptor module = ModuleFinder.of(JAR).find("io.github.polarquant").get().descriptor();
    Expect.isTrue(!module.isAutomatic(), "a real descriptor");
    Expect.equal(module.exports().size(), 1);
    Expect.equal(module.requires().size(), 1);
  }

  @Test
  void thePomSaysTheSame() throws Exception {
    Document pom = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(
        HERE.resolve("pom.xml").toFile());
    Element project = pom.getDocumentElement();
    Expect.equal(text(project, "groupId"), "io.github.polarquant");
    Expect.equal(text(project, "artifactId"), "polarquant");
    Expect.equal(text(project, "version"), "0.1.0");
    Expect.equal(text(project, "maven.compiler.release"), "11");
  }

  private static String text(Element parent, String name) {
    return parent.getElementsByTagName(name).item(0).getTextContent();
  }

  @Test
  void theReadmeShowsTheExample() throws Exception {
    String readme = Files.readString(HERE.resolve("README.md"));
    String code = Files.readString(Paths.get(EXAMPLE));
    String begin = "```java\n";
    int from = readme.indexOf(begin) + begin.length();
    String shown = readme.substring(from, readme.indexOf("```\n", from));
    Expect.equal("// SPDX-License-Identifier: MIT\n" + shown, code);
  }

  /** Runs java; its output, and its exit status in a last line. */
  private static List<String> run(Path temporary, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Djava.io.tmpdir=" + temporary);
    command.addAll(Arrays.asList(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    Process process = builder.directory(temporary.toFile()).start();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    process.getInputStream().transferTo(bytes);
    List<String> lines =
        new ArrayList<>(Arrays.asList(bytes.toString(StandardCharsets.UTF_8).trim().split("\\R")));
    lines.add("status " + process.waitFor());
    return lines;
  }

  private static List<String> filesOf(Path folder) throws Exception {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().collect(Collectors.toList());
    }
  }

  private static void checkExample(List<String> lines) {
    Expect.equal(lines,
        Arrays.asList("142 1.001", "852 1.001", "519 0.948", "852 1.001", "rows 999", "status 0"));
  }

  @Test
  void theExampleRunsFromTheJarAndLeavesNothing() throws Exception {
    Path folder = Files.createTempDirectory("polarquant-test");
    checkExample(run(folder, "-cp", JAR.toString(), EXAMPLE));
    Expect.equal(filesOf(folder), Arrays.asList("first.polar"));
    Files.delete(folder.resolve("first.polar"));
    String[] asModule = {
        "-p", JAR.toString(), "--add-modules", "io.github.polarquant", EXAMPLE, folder.toString()};
    checkExample(run(folder, asModule));
    Files.delete(folder.resolve("first.polar"));
    Files.delete(folder);
  }

  @Test
  void librariesCanLieElsewhere() throws Exception {
    Path folder = Files.createTempDirectory("polarquant-test");
    Path natives = OUT.resolve("resources/natives/" + NativeLibrary.platform()).toAbsolutePath();
    String classes = OUT.resolve("classes").toString();
    checkExample(
        run(folder, "-Dpolarquant.library.path=" + natives, "-cp", JAR.toString(), EXAMPLE));
    checkExample(run(folder, "-Djava.library.path=" + natives, "-cp", classes, EXAMPLE));
    String wrong = "-Dpolarquant.library.path=" + folder;
    String text = String.join("\n", run(folder, wrong, "-cp", JAR.toString(), EXAMPLE));
    Expect.isTrue(text.contains("UnsatisfiedLinkError") && text.endsWith("status 1"), text);
    text = String.join("\n", run(folder, "-cp", classes, EXAMPLE));
    Expect.isTrue(text.contains("polarquant.library.path"), text);
    Files.delete(folder.resolve("first.polar"));
    // A folder that nothing can be unpacked to.
    Path missing = folder.resolve("missing");
    text = String.join(
        "\n", run(folder, "-Djava.io.tmpdir=" + missing, "-cp", JAR.toString(), EXAMPLE));
    Expect.isTrue(text.contains("cannot unpack") && text.endsWith("status 1"), text);
    Expect.equal(filesOf(folder), new ArrayList<String>());
    Files.delete(folder);
  }

  @Test
  void unpackedFoldersAreTheOwners() throws Exception {
    Path folder = Files.createTempDirectory("polarquant");
    Expect.equal(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)), "rwx------");
    Files.delete(folder);
  }
}
