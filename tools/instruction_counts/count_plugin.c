/* SPDX-License-Identifier: MIT */
/* A plugin of qemu's user-mode emulators: how many instructions a program of one thread ran, and
 * how many of them had a vector register, by what qemu's disassembler prints. Distributions leave
 * qemu's header for plugins out: this declares the few functions that are used, as version 1 of the
 * interface has them (qemu 4.2 to 8.2). */
#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { INLINE_ADD_U64 = 0 };
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t i);
char* qemu_plugin_insn_disas(const struct qemu_plugin_insn* instruction);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* block, int operation,
                                              void* counter, uint64_t added);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t,
                                                            struct qemu_plugin_tb*));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, void*),
                                    void* data);
void qemu_plugin_outs(const char* text);

EXPORT int qemu_plugin_version = 1;

static uint64_t all_run;
static uint64_t vector_run;

/* x86: a name with mm in it. ARM: q0, v0.16b and their like; scalar sums of floats, s0 and d0, do
 * not count. */
static int has_vector_register(const char* text) {
  const char* at;
  if (strstr(text, "mm") != NULL && strchr(text, '%') != NULL) return 1;
  if (strstr(text, "xmm") != NULL || strstr(text, "ymm") != NULL) return 1;
  for (at = text; *at != '\0'; ++at) {
    if (at != text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) continue;
    if (*at == 'v' && isdigit((unsigned char)at[1]) && strchr(at, '.') != NULL) return 1;
    if (*at == 'q' && isdigit((unsigned char)at[1])) return 1;
  }
  return 0;
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  const size_t count = qemu_plugin_tb_n_insns(block);
  uint64_t vectors = 0;
  size_t i;
  (void)id;
  for (i = 0; i < count; ++i) {
    char* const text = qemu_plugin_insn_disas(qemu_plugin_tb_get_insn(block, i));
    vectors += (uint64_t)has_vector_register(text);
    free(text);
  }
  qemu_plugin_register_vcpu_tb_exec_inline(block, INLINE_ADD_U64, &all_run, count);
  if (vectors > 0)
    qemu_plugin_register_vcpu_tb_exec_inline(block, INLINE_ADD_U64, &vector_run, vectors);
}

static void at_end(qemu_plugin_id_t id, void* data) {
  char text[96];
  (void)id;
  (void)data;
  snprintf(text, sizeof text, "instructions %" PRIu64 " vector %" PRIu64 "\n", all_run, vector_run);
  qemu_plugin_outs(text);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc, char** argv) {
  (void)info;
  (void)argc;
  (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
  qemu_plugin_register_atexit_cb(id, at_end, NULL);
  return 0;
}
