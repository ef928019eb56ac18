// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** The vectors of tests/conformance: its README.md says what each member is. */
final class Vectors {
  static final Path ROOT = Paths.get(System.getProperty("polarquant.test.root", "../.."));
  static final Path FOLDER = ROOT.resolve("tests/conformance");

  private Vectors() {}

  /** A case of a file. */
  static final class Case {
    private final Map<?, ?> members;

    Case(Object members) {
      this.members = (Map<?, ?>) members;
    }

    boolean has(String name) {
      return members.get(name) != null;
    }

    String text(String name) {
      return (String) members.get(name);
    }

    long whole(String name) {
      return ((Number) members.get(name)).longValue();
    }

    long whole(String name, long otherwise) {
      return has(name) ? whole(name) : otherwise;
    }

    double real(String name) {
      return number(members.get(name));
    }

    boolean isTrue(String name, boolean otherwise) {
      return has(name) ? (Boolean) members.get(name) : otherwise;
    }

    Case inner(String name) {
      return new Case(members.get(name));
    }

    List<Case> cases(String name) {
      List<Case> read = new ArrayList<>();
      if (has(name)) {
        for (Object each : (List<?>) members.get(name)) {
          read.add(new Case(each));
        }
      }
      return read;
    }

    /** Numbers of a list, or of a list of lists. */
    float[] floats(String name) {
      List<Object> flat = flat(name);
      float[] read = new float[flat.size()];
      for (int i = 0; i < read.length; ++i) {
        read[i] = (float) number(flat.get(i));
      }
      return read;
    }

    long[] longs(String name) {
      return flat(name).stream().mapToLong(each -> ((Number) each).longValue()).toArray();
    }

    List<Object> flat(String name) {
      List<Object> flat = new ArrayList<>();
      for (Object each : (List<?>) members.get(name)) {
        if (each instanceof List) {
          flat.addAll((List<?>) each);
        } else {
          flat.add(each);
        }
      }
      return flat;
    }

    /** The rows of a member {"seed", "n", …}. */
    float[] rows(String name, int dim) {
      return madeRows(inner(name), dim);
    }

    @Override
    public String toString() {
      return members.toString();
    }
  }

  static List<Case> read(String file) {
    try {
      Case whole = new Case(Json.parse(Files.readString(FOLDER.resolve(file))));
      Expect.equal(whole.whole("format"), 1);
      return whole.cases("cases");
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static double number(Object value) {
    if (value instanceof Number) {
      return ((Number) value).doubleValue();
    }
    switch ((String) value) {
      case "inf":
        return Double.POSITIVE_INFINITY;
      case "-inf":
        return Double.NEGATIVE_INFINITY;
      case "nan":
        return Double.NaN;
      default:
        return Double.parseDouble((String) value);
    }
  }

  static float[] madeRows(Case made, int dim) {
    float[] x = new float[(int) made.whole("n") * dim];
    float shift = made.has("shift") ? (float) made.real("shift") : 0;
    long state = made.whole("seed");
    for (int i = 0; i < x.length; ++i) {
      state += 0x9E3779B97F4A7C15L;
      long z = (state ^ state >>> 30) * 0xBF58476D1CE4E5B9L;
      z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
      z ^= z >>> 31;
      long sum = (z & 0xFFFF) + (z >>> 16 & 0xFFFF) + (z >>> 32 & 0xFFFF) + (z >>> 48);
      x[i] = (sum - 131070) / 65536.0f + shift;
    }
    if (made.has("set")) {
      List<Object> set = made.flat("set");
      int row = ((Number) set.get(0)).intValue();
      int column = ((Number) set.get(1)).intValue();
      x[row * dim + column] = (float) number(set.get(2));
    }
    return x;
  }

  static String fnv1a(byte[] data) {
    long value = 0xCBF29CE484222325L;
    for (byte each : data) {
      value = (value ^ (each & 0xFF)) * 0x100000001B3L;
    }
    return String.format("%016x", value);
  }

  static Filter filter(Case given) {
    switch (given.text("kind")) {
      case "bitset":
        long[] words = given.flat("words")
                           .stream()
                           .mapToLong(word -> Long.parseUnsignedLong((String) word, 16))
                           .toArray();
        return Filter.bits(words, given.whole("num_bits"));
      case "ids":
        return Filter.ids(given.longs("ids"));
      case "range":
        return Filter.range(given.whole("first"), given.whole("end"));
      case "callback":
        long divisor = given.whole("multiples_of");
        return Filter.predicate(id -> id % divisor == 0);
      default:
        Expect.equal(given.text("kind"), "none");
        return null;
    }
  }

  static SearchOptions options(Case given) {
    SearchOptions options =
        SearchOptions.DEFAULT.withNumThreads((int) given.whole("num_threads", 0))
            .withNprobe(given.whole("nprobe", 0));
    if (given.has("exactness")) {
      options = options.withExactness((float) given.real("exactness"));
    }
    return given.has("filter") ? options.withFilter(filter(given.inner("filter"))) : options;
  }

  static Codec codec(Case given) {
    if (given.has("state")) {
      return Codec.loadState(Base64.getDecoder().decode(given.text("state")));
    }
    int dim = (int) given.whole("dim");
    CodecOptions options = CodecOptions.DEFAULT;
    if (given.has("codec_options")) {
      Case changed = given.inner("codec_options");
      options = options.withSeed(changed.whole("seed", 1));
      options = options.withLearnCentre(changed.isTrue("learn_centre", true));
      options = options.withNormUnit(changed.has("norm_unit") ? changed.real("norm_unit") : 0);
      options = options.withCentre(changed.has("centre") ? changed.rows("centre", dim) : null);
    }
    Codec codec =
        new Codec(given.text("spec"), dim, Metric.byNumber(given.whole("metric")), options);
    if (given.has("train")) {
      codec.train(given.rows("train", dim));
    }
    return codec;
  }

  static void step(Index index, Case step) {
    float[] x = step.has("rows") ? step.rows("rows", index.dim()) : new float[0];
    switch (step.text("call")) {
      case "train":
        index.train(x);
        break;
      case "train_with_centroids":
        FloatBuffer centroids = FloatBuffer.wrap(step.rows("centroids", index.dim()));
        index.trainWithCentroids(centroids, FloatBuffer.wrap(x), WorkOptions.DEFAULT);
        break;
      case "add":
        index.add(x);
        break;
      case "add_with_ids":
        index.addWithIds(x, step.longs("ids"));
        break;
      case "update":
        index.update(step.longs("ids"), x);
        break;
      case "remove":
        long gone = index.remove(step.longs("ids"));
        Expect.isTrue(!step.has("removed") || gone == step.whole("removed"), "removed " + gone);
        break;
      case "remove_filtered":
        Expect.equal(index.remove(filter(step.inner("filter"))), step.whole("removed"));
        break;
      default:
        Expect.equal(step.text("call"), "set_nprobe");
        index.setNprobe(step.whole("nprobe"));
    }
  }

  static Index index(Case given) {
    int dim = (int) given.whole("dim");
    Index index = new Index(given.text("description"), dim, Metric.byNumber(given.whole("metric")));
    given.cases("steps").forEach(step -> step(index, step));
    return index;
  }
}
