/* SPDX-License-Identifier: MIT */
/* Codes one vector, scores it, and checks the score: the installed header and library fit together.
 */
#include <polarquant/polarquant.h>
#include <stdio.h>

int main(void) {
  const float x[4] = {1, 2, 3, 4};
  uint8_t codes[64];
  float score = 0;
  size_t bytes = 0;
  polar_codec* codec = NULL;
  polar_query* query = NULL;
  const int32_t header_version =
      POLAR_VERSION_MAJOR * 10000 + POLAR_VERSION_MINOR * 100 + POLAR_VERSION_PATCH;
  int good =
      polar_version() == header_version &&
      polar_codec_create("Polar4", 4, POLAR_METRIC_INNER_PRODUCT, NULL, &codec) == POLAR_OK &&
      polar_codec_encoded_bytes(codec, 1, &bytes) == POLAR_OK && bytes <= sizeof codes &&
      polar_codec_encode(codec, 1, x, NULL, codes, bytes) == POLAR_OK &&
      polar_query_prepare(codec, x, &query) == POLAR_OK &&
      polar_codec_score(codec, query, 1, codes, bytes, NULL, &score) == POLAR_OK;
  good = good && score > 20 && score < 40; /* 30 without coding error */
  polar_query_destroy(query);
  polar_codec_destroy(codec);
  printf("polarquant %s: %s\n", polar_version_string(), good ? "good" : "WRONG");
  return good ? 0 : 1;
}
