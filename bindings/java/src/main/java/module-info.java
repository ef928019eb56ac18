// SPDX-License-Identifier: MIT

/** Compresses embedding vectors to codes, and searches the codes. */
module io.github.polarquant {
  exports io.github.polarquant;
}
