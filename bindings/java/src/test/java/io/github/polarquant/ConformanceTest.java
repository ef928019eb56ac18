// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Every case of the vectors of tests/conformance. */
final class ConformanceTest {
  private interface Search {
    SearchResult search(FloatBuffer queries, int k, SearchOptions options);
  }

  private interface RangeSearch {
    RangeResult search(FloatBuffer queries, float radius, SearchOptions options);
  }

  private static void checkSearches(Vectors.Case given, Search search, RangeSearch rangeSearch) {
    int dim = (int) given.whole("dim");
    for (Vectors.Case wanted : given.cases("searches")) {
      FloatBuffer queries = FloatBuffer.wrap(wanted.rows("queries", dim));
      SearchOptions options = Vectors.options(wanted.inner("options"));
      SearchResult found = search.search(queries, (int) wanted.whole("k"), options);
      Expect.equal(found.ids(), wanted.longs("ids"));
      Expect.near(found.scores(), wanted.floats("scores"));
    }
    for (Vectors.Case wanted : given.cases("range_searches")) {
      FloatBuffer queries = FloatBuffer.wrap(wanted.rows("queries", dim));
      SearchOptions options = Vectors.options(wanted.inner("options"));
      RangeResult found = rangeSearch.search(queries, (float) wanted.real("radius"), options);
      Expect.equal(found.lims(), wanted.longs("lims"));
      Expect.equal(found.ids(), wanted.longs("ids"));
      Expect.near(found.scores(), wanted.floats("scores"));
    }
  }

  private static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte each : bytes) {
      text.append(String.format("%02x", each));
    }
    return text.toString();
  }

  @Test
  void codecsMakeTheseCodesAndFindTheseRows() {
    for (Vectors.Case given : Vectors.read("codecs.json")) {
      try (Codec codec = Vectors.codec(given)) {
        checkCodec(given, codec);
      } catch (AssertionError | RuntimeException error) {
        throw new AssertionError(given.text("name"), error);
      }
    }
  }

  private static void checkCodec(Vectors.Case given, Codec codec) {
    int dim = (int) given.whole("dim");
    long n = given.inner("rows").whole("n");
    byte[] codes = codec.encode(given.rows("rows", dim));
    Expect.equal(codec.codeSize(), given.whole("code_bytes"));
    Expect.equal(Vectors.fnv1a(codes), given.text("codes_fnv1a"));
    if (given.has("first_code")) {
      Expect.equal(hex(Arrays.copyOf(codes, codec.codeSize())), given.text("first_code"));
    }
    if (given.has("state_fnv1a")) {
      Expect.equal(Vectors.fnv1a(codec.saveState()), given.text("state_fnv1a"));
    }
    float[] decoded = new float[(int) n * dim];
    codec.decode(ByteBuffer.wrap(codes), n, Reconstruction.LEAST_ERROR, FloatBuffer.wrap(decoded),
        WorkOptions.DEFAULT);
    Expect.near(Arrays.copyOf(decoded, dim), given.floats("decoded"));
    ByteBuffer direct = ByteBuffer.allocateDirect(codes.length).put(codes);
    direct.flip();
    for (ByteBuffer buffer : Arrays.asList(ByteBuffer.wrap(codes), direct)) {
      checkSearches(given,
          (queries, k, options)
              -> codec.search(queries, buffer, n, k, options),
          (queries, radius, options) -> codec.rangeSearch(queries, buffer, n, radius, options));
    }
    if (!given.isTrue("has_blocks", false)) {
      Expect.thrown(PolarException.Unsupported.class, () -> new CodeBlocks(codec).close());
      return;
    }
    try (CodeBlocks blocks = new CodeBlocks(codec, codes)) {
      Expect.equal(blocks.get(0, (int) n), codes);
      checkSearches(given, blocks::search, blocks::rangeSearch);
    }
  }

  private static void checkIndex(Vectors.Case given, Index index) {
    Expect.equal(index.ntotal(), given.whole("ntotal"));
    checkSearches(given, index::search, index::rangeSearch);
    if (given.has("reconstruct")) {
      Vectors.Case wanted = given.inner("reconstruct");
      Expect.near(index.reconstruct(wanted.whole("id")), wanted.floats("x"));
    }
  }

  @Test
  void indexesFindTheseRows() {
    for (Vectors.Case given : Vectors.read("indexes.json")) {
      try (Index index = Vectors.index(given)) {
        checkIndex(given, index);
      } catch (AssertionError | RuntimeException error) {
        throw new AssertionError(given.text("name"), error);
      }
    }
  }

  @Test
  void filesHaveTheseIndexes() throws IOException {
    for (Vectors.Case given : Vectors.read("files.json")) {
      Path path = Vectors.FOLDER.resolve(given.text("file"));
      byte[] bytes = Files.readAllBytes(path);
      Expect.equal(bytes.length, given.whole("bytes"));
      Expect.equal(Vectors.fnv1a(bytes), given.text("fnv1a"));
      for (boolean map :
          given.isTrue("can_map", false) ? new boolean[] {false, true} : new boolean[1]) {
        try (Index index = Index.load(path, LoadOptions.DEFAULT.withMemoryMap(map))) {
          Expect.equal(index.description(), given.text("description"));
          Expect.equal(index.dim(), given.whole("dim"));
          Expect.equal(index.metric(), Metric.byNumber(given.whole("metric")));
          checkIndex(given, index);
          index.verify();
        }
      }
    }
  }

  @Test
  void wrongCallsThrowTheseExceptions() {
    for (Vectors.Case given : Vectors.read("errors.json")) {
      if (given.inner("arguments").whole("metric", 0) > 2) {
        continue; // there is no such Metric
      }
      try {
        callWrongly(given);
      } catch (PolarException error) {
        Expect.equal(error.status(), given.whole("status"));
        Expect.isTrue(error.getMessage().contains(given.text("names")), given + ": " + error);
        continue;
      }
      throw new AssertionError("nothing was thrown: " + given);
    }
  }

  private static void callWrongly(Vectors.Case given) {
    Vectors.Case arguments = given.inner("arguments");
    String call = given.text("call");
    if (given.has("codec")) {
      try (Codec codec = Vectors.codec(given.inner("codec"))) {
        if (given.inner("codec").has("encode")) {
          codec.encode(given.inner("codec").rows("encode", codec.dim()));
        }
        callCodec(codec, call, arguments);
      }
    } else if (given.has("index")) {
      try (Index index = Vectors.index(given.inner("index"))) {
        callIndex(index, call, given);
      }
    } else if (call.equals("index_load")) {
      Index.load(Vectors.FOLDER.resolve(arguments.text("file"))).close();
    } else if (call.equals("index_create")) {
      Vectors.index(arguments).close();
    } else {
      Vectors.codec(arguments).close();
    }
  }

  private static void callCodec(Codec codec, String call, Vectors.Case arguments) {
    float[] x = arguments.rows("rows", codec.dim());
    if (call.equals("codec_train")) {
      codec.train(x);
      return;
    }
    byte[] codes = codec.encode(x);
    ByteBuffer buffer = ByteBuffer.wrap(codes);
    FloatBuffer query = FloatBuffer.wrap(x, 0, codec.dim());
    long n = arguments.inner("rows").whole("n");
    switch (call) {
      case "codec_search":
        SearchOptions options = Vectors.options(arguments.inner("options"));
        codec.search(query, buffer, n, (int) arguments.whole("k"), options);
        break;
      case "codec_range_search":
        float radius = (float) arguments.real("radius");
        codec.rangeSearch(query, buffer, n, radius, SearchOptions.DEFAULT);
        break;
      case "blocks_append":
        new CodeBlocks(codec, codes).close();
        break;
      default:
        Expect.equal(call, "codec_encode");
    }
  }

  private static void callIndex(Index index, String call, Vectors.Case given) {
    Vectors.Case arguments = given.inner("arguments");
    float[] query = new float[index.dim()];
    switch (call) {
      case "index_reconstruct":
        index.reconstruct(arguments.whole("id"));
        break;
      case "index_search":
        SearchOptions options = Vectors.options(arguments.inner("options"));
        index.search(query, (int) arguments.whole("k"), options);
        break;
      case "index_range_search":
        index.rangeSearch(query, (float) arguments.real("radius"), SearchOptions.DEFAULT);
        break;
      case "index_set_nprobe":
        index.setNprobe(arguments.whole("nprobe"));
        break;
      case "index_remove":
        index.remove(arguments.longs("ids"));
        break;
      case "index_update":
        index.update(arguments.longs("ids"), arguments.rows("rows", index.dim()));
        break;
      case "index_add_with_ids":
        index.addWithIds(arguments.rows("rows", index.dim()), arguments.longs("ids"));
        break;
      default:
        Expect.equal(call, "index_add");
        index.add(arguments.rows("rows", index.dim()));
    }
  }
}
