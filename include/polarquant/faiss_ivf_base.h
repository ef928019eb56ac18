// SPDX-License-Identifier: MIT
// faiss::IndexIVF with virtual functions that are the same whatever FAISS release is at hand: what
// its own take differs. Included by polarquant/faiss_ivf.h.
#ifndef POLARQUANT_FAISS_IVF_BASE_H
#define POLARQUANT_FAISS_IVF_BASE_H

#include <faiss/IndexIVF.h>

#include <cstdint>

namespace polarquant {

/// Add: the type of IndexIVF::add_core. Newer releases pass a context for lists in a database.
template <typename Add>
struct IndexIVFAdding;

template <typename Id>
struct IndexIVFAdding<void (::faiss::IndexIVF::*)(Id, const float*, const Id*, const Id*)>
    : ::faiss::IndexIVF {
  using ::faiss::IndexIVF::IndexIVF;
  void add_core(Id n, const float* x, const Id* xids, const Id* precomputed_idx) override {
    add_to_lists(n, x, xids, precomputed_idx);
  }
  /// As IndexIVF::add_core.
  virtual void add_to_lists(int64_t n, const float* x, const int64_t* xids,
                            const int64_t* precomputed_idx) = 0;
};

template <typename Id>
struct IndexIVFAdding<void (::faiss::IndexIVF::*)(Id, const float*, const Id*, const Id*, void*)>
    : ::faiss::IndexIVF {
  using ::faiss::IndexIVF::IndexIVF;
  void add_core(Id n, const float* x, const Id* xids, const Id* precomputed_idx,
                void* /*inverted_list_context*/ = nullptr) override {
    add_to_lists(n, x, xids, precomputed_idx);
  }
  /// As IndexIVF::add_core.
  virtual void add_to_lists(int64_t n, const float* x, const int64_t* xids,
                            const int64_t* precomputed_idx) = 0;
};

/// Base: an IndexIVFAdding. Make: the type of IndexIVF::get_InvertedListScanner. Newer releases
/// pass a search's parameters, of which a scanner of ours reads none.
template <typename Base, typename Make>
struct IndexIVFScanning;

template <typename Base>
struct IndexIVFScanning<Base, ::faiss::InvertedListScanner* (
                                  ::faiss::IndexIVF::*)(bool, const ::faiss::IDSelector*) const>
    : Base {
  using Base::Base;
  ::faiss::InvertedListScanner* get_InvertedListScanner(
      bool store_pairs = false, const ::faiss::IDSelector* sel = nullptr) const override {
    return make_scanner(store_pairs, sel);
  }
  /// As IndexIVF::get_InvertedListScanner.
  virtual ::faiss::InvertedListScanner* make_scanner(bool store_pairs,
                                                     const ::faiss::IDSelector* sel) const = 0;
};

template <typename Base, typename Parameters>
struct IndexIVFScanning<Base, ::faiss::InvertedListScanner* (
                                  ::faiss::IndexIVF::*)(bool, const ::faiss::IDSelector*,
                                                        const Parameters*) const> : Base {
  using Base::Base;
  ::faiss::InvertedListScanner* get_InvertedListScanner(
      bool store_pairs = false, const ::faiss::IDSelector* sel = nullptr,
      const Parameters* /*params*/ = nullptr) const override {
    return make_scanner(store_pairs, sel);
  }
  /// As IndexIVF::get_InvertedListScanner.
  virtual ::faiss::InvertedListScanner* make_scanner(bool store_pairs,
                                                     const ::faiss::IDSelector* sel) const = 0;
};

using IndexIVFBase = IndexIVFScanning<IndexIVFAdding<decltype(&::faiss::IndexIVF::add_core)>,
                                      decltype(&::faiss::IndexIVF::get_InvertedListScanner)>;

}  // namespace polarquant

#endif
