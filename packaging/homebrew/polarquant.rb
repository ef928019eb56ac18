# SPDX-License-Identifier: MIT
# brew install --HEAD ./packaging/homebrew/polarquant.rb
class Polarquant < Formula
  desc "Polar codes for embedding vectors, searched without decoding"
  homepage "https://github.com/polarquant/polarquant"
  license "MIT"
  head "https://github.com/polarquant/polarquant.git", branch: "main"

  depends_on "cmake" => :build
  depends_on "fmt" => :build
  depends_on "ninja" => :build
  depends_on "xxhash" => :build
  depends_on "highway"

  def install
    # Codes without indexes: Homebrew's FAISS brings OpenMP's runtime, of which a process wants one.
    options = %w[FAISS OPENMP LAPACK CUDA SQLITE TESTS BENCH].map { |name| "-DPOLARQUANT_#{name}=OFF" }
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", *options, *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    pkgshare.install "examples/c/search.c"
  end

  test do
    system ENV.cc, pkgshare/"search.c", "-I#{include}", "-L#{lib}", "-lpolarquant", "-Wl,-rpath,#{lib}", "-o", "search"
    assert_match(/^row 7, cosine about/, shell_output("./search"))
  end
end
