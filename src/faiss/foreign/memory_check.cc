// SPDX-License-Identifier: MIT
#include "src/faiss/foreign/memory_check.h"

#include <faiss/IndexFastScan.h>
#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexIVFFastScan.h>
#include <faiss/IndexIVFPQ.h>
#include <faiss/IndexIVFPQFastScan.h>
#include <faiss/IndexIVFPQR.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPQ.h>
#include <faiss/IndexPQFastScan.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/VectorTransform.h>
#include <faiss/utils/distances.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <typeinfo>

#include "src/core/threads.h"

namespace polarquant {
namespace {

// Bytes are doubles here: products of counts from callers cannot overflow.
constexpr double kFloat = sizeof(float);
constexpr double kResult = sizeof(float) + sizeof(idx_t);
/// Objects of a thread: scanners, computers, headers of vectors.
constexpr double kThread = 2048;

bool has_memory(double bytes) {
  // Bookkeeping of the allocator's own, for FAISS's many blocks.
  const double wanted = bytes + bytes / 16;
  constexpr double kTerabyte = 0x1p40;  // sanitizers end the process for more
  if (wanted > kTerabyte) return false;
  // volatile, or the compiler may leave the pair out.
  void* volatile block = ::operator new(static_cast<size_t>(wanted), std::nothrow);
  const bool has = block != nullptr;
  ::operator delete(block);
  return has;
}

void require_memory(double bytes) {
  if (!has_memory(bytes)) throw std::bad_alloc();
}

double as_double(size_t count) { return static_cast<double>(count); }
double as_double(idx_t count) { return static_cast<double>(count); }

template <typename Class>
const Class* as(const ::faiss::Index& index) {
  return dynamic_cast<const Class*>(&index);
}
template <typename Class>
const Class& known_as(const ::faiss::Index& index) {
  return static_cast<const Class&>(index);
}

enum class Kind {
  flat,
  lists,
  pq_lists,
  pqr_lists,
  packed_lists,
  hnsw,
  nsg,
  sq,
  pq,
  packed,
  chain,
  other
};

Kind find_kind(const ::faiss::Index& index) {
  if (as<::faiss::IndexFlat>(index) != nullptr) return Kind::flat;
  if (as<::faiss::IndexIVFPQR>(index) != nullptr) return Kind::pqr_lists;
  if (as<::faiss::IndexIVFPQ>(index) != nullptr) return Kind::pq_lists;
  if (as<::faiss::IndexIVFFastScan>(index) != nullptr) return Kind::packed_lists;
  if (as<::faiss::IndexIVF>(index) != nullptr) return Kind::lists;
  if (as<::faiss::IndexHNSW>(index) != nullptr) return Kind::hnsw;
  if (as<::faiss::IndexNSG>(index) != nullptr) return Kind::nsg;
  if (as<::faiss::IndexScalarQuantizer>(index) != nullptr) return Kind::sq;
  if (as<::faiss::IndexPQ>(index) != nullptr) return Kind::pq;
  if (as<::faiss::IndexFastScan>(index) != nullptr) return Kind::packed;
  if (as<::faiss::IndexPreTransform>(index) != nullptr) return Kind::chain;
  return Kind::other;
}

/// A search of one query takes some microseconds: a thread knows the types that it met, as casts
/// to classes that a type is not of take a tenth of one.
Kind kind_of(const ::faiss::Index& index) {
  struct Met {
    const std::type_info* type = nullptr;
    Kind kind = Kind::other;
  };
  thread_local std::array<Met, 16> met;
  const std::type_info* const type = &typeid(index);
  Met& place = met[reinterpret_cast<uintptr_t>(type) / alignof(std::type_info) % met.size()];
  if (place.type != type) place = {type, find_kind(index)};
  return place.kind;
}

/// Look-up tables of a query.
double table_bytes(const ::faiss::ProductQuantizer& pq) {
  return as_double(pq.M) * as_double(pq.ksub) * kFloat;
}

/// FAISS multiplies blocks of queries with blocks of rows, from so many queries on.
double product_bytes(double queries, double rows) {
  if (queries < ::faiss::distance_compute_blas_threshold) return 0;
  return kFloat * (static_cast<double>(::faiss::distance_compute_blas_query_bs) *
                       ::faiss::distance_compute_blas_database_bs +
                   queries + rows);
}

/// What scores codes one by one, for a thread.
double computer_bytes(const ::faiss::Index& storage) {
  const double row = 4 * kFloat * storage.d + kThread;
  if (kind_of(storage) == Kind::pq)
    return row + table_bytes(known_as<::faiss::IndexPQ>(storage).pq);
  return row;
}

/// Of fast scans, for a query: tables as floats and as bytes, each in a power of two, and the best
/// k, in a heap or a reservoir.
double fast_scan_bytes(double tables, double k) { return 2 * tables * (kFloat + 1) + 32 * k + 512; }

struct Search {
  double queries;
  double k;
  double threads;
  double nprobe = 0;

  double bytes(const ::faiss::Index& index) const {
    switch (const Kind kind = kind_of(index)) {
      case Kind::flat:
        return flat_bytes(as_double(index.ntotal));
      case Kind::lists:
      case Kind::pq_lists:
      case Kind::pqr_lists:
      case Kind::packed_lists:
        return lists_bytes(known_as<::faiss::IndexIVF>(index), kind);
      case Kind::hnsw: {
        const auto& hnsw = known_as<::faiss::IndexHNSW>(index);
        return graph_bytes(index, *hnsw.storage, hnsw.hnsw.efSearch);
      }
      case Kind::nsg: {
        const auto& nsg = known_as<::faiss::IndexNSG>(index);
        return graph_bytes(index, *nsg.storage, nsg.nsg.search_L);
      }
      case Kind::sq:
        return threads * computer_bytes(index);
      case Kind::pq: {
        const auto& pq = known_as<::faiss::IndexPQ>(index);
        return queries * (table_bytes(pq.pq) + as_double(pq.code_size) + kResult * k) +
               threads * kThread;
      }
      case Kind::packed: {
        const auto& packed = known_as<::faiss::IndexFastScan>(index);
        return queries * fast_scan_bytes(as_double(packed.ksub) * as_double(packed.M2), k) +
               threads * kThread;
      }
      case Kind::chain: {
        const auto& chain = known_as<::faiss::IndexPreTransform>(index);
        return 2 * kFloat * queries * std::max(chain.d, chain.index->d) + bytes(*chain.index);
      }
      case Kind::other:
        break;
    }
    // Ours among others, whose loops throw: theirs counts beside FAISS's.
    return queries * (64 * k + 16 * kFloat * index.d + 256) +
           threads * (64 * kThread + 16 * kFloat * index.d);
  }

  /// A reservoir of twice k, and a bit, a thread; or one a query, of a block of them.
  double flat_bytes(double rows) const {
    const double reservoir = kResult * (2 * k + 32) + 64;
    const double product = product_bytes(queries, rows);
    if (product == 0) return std::min(queries, threads) * reservoir;
    const double block = ::faiss::distance_compute_blas_query_bs;
    return product + std::min(queries, block) * reservoir;
  }

  /// Nodes seen, nodes kept, and what scores them.
  double graph_bytes(const ::faiss::Index& graph, const ::faiss::Index& storage, double ef) const {
    const double kept = std::max(ef, k) + 2;
    return threads * (as_double(graph.ntotal) + 32 * kept + computer_bytes(storage));
  }

  /// Queries go to threads in slices, each of which finds lists and then scans them.
  double lists_bytes(const ::faiss::IndexIVF& index, Kind kind) const {
    const double probes =
        std::min(as_double(index.nlist), nprobe > 0 ? nprobe : as_double(index.nprobe));
    double query = kResult * probes;
    // A scanner, with its best k.
    double thread = kThread + 4 * kFloat * index.d + kResult * k;
    if (kind == Kind::packed_lists) {
      const auto& packed = known_as<::faiss::IndexIVFFastScan>(index);
      const double tables = as_double(packed.ksub) * as_double(packed.M2);
      query += fast_scan_bytes(tables * (packed.lookup_table_is_3d() ? probes : 1), k) +
               probes * (kFloat * index.d + 64);
      thread += 32 * tables;  // of up to 11 queries that scan a list together
    } else if (kind == Kind::pq_lists || kind == Kind::pqr_lists) {
      const auto& pq = known_as<::faiss::IndexIVFPQ>(index).pq;
      thread += 2 * table_bytes(pq) + as_double(pq.M) * sizeof(void*);
    }
    if (kind == Kind::pqr_lists)
      query += kResult * k * known_as<::faiss::IndexIVFPQR>(index).k_factor;
    const double slices = std::clamp(threads, 1.0, queries);
    const Search slice = {std::ceil(queries / slices), probes, slices > 1 ? 1 : threads};
    return threads * thread + queries * query + slices * (slice.bytes(*index.quantizer) + 64);
  }
};

double call_threads() { return default_threads(); }

struct Training {
  double threads;

  /// All stages together, though most give back what they took.
  double bytes(const ::faiss::Index& index, double rows) const {
    double bytes = kThread;
    if (const auto* chain = as<::faiss::IndexPreTransform>(index)) {
      for (const ::faiss::VectorTransform* transform : chain->chain) {
        bytes += kFloat * rows * transform->d_out;
        if (const auto* opq = dynamic_cast<const ::faiss::OPQMatrix*>(transform))
          bytes += opq_bytes(*opq, rows);
      }
      return bytes + this->bytes(*chain->index, rows);
    }
    if (const auto* map = as<::faiss::IndexIDMap>(index)) return this->bytes(*map->index, rows);
    if (const auto* both = as<::faiss::IndexRefine>(index))
      return this->bytes(*both->base_index, rows) + this->bytes(*both->refine_index, rows);
    if (const auto* hnsw = as<::faiss::IndexHNSW>(index)) return this->bytes(*hnsw->storage, rows);
    if (const auto* nsg = as<::faiss::IndexNSG>(index)) return this->bytes(*nsg->storage, rows);
    if (const auto* ivf = as<::faiss::IndexIVF>(index))
      return lists_bytes(*ivf, rows) + residual_bytes(*ivf, rows);
    if (const auto* pq = as<::faiss::IndexPQ>(index)) return product_bytes(pq->pq, rows);
    if (const auto* pq = as<::faiss::IndexPQFastScan>(index)) return product_bytes(pq->pq, rows);
    if (const auto* pq = as<::faiss::MultiIndexQuantizer>(index))
      return product_bytes(pq->pq, rows);
    return bytes;
  }

  /// k-means: a draw of the rows, where they are many, their clusters, products, and centroids in
  /// the index that finds them too, in buffers that grow by doubling.
  double clustering_bytes(double rows, double dim, double count,
                          const ::faiss::ClusteringParameters& parameters) const {
    const double most = count * parameters.max_points_per_centroid;
    const double drawn = std::min(rows, most);
    const double draw = rows > most ? 4 * rows + kFloat * dim * drawn : 0;
    const double centroids = count * (8 * kFloat * dim + 64);
    return draw + 24 * drawn + polarquant::product_bytes(drawn, count) + centroids +
           threads * (kFloat * dim + kThread) + 128 * parameters.niter;
  }

  double product_bytes(const ::faiss::ProductQuantizer& pq, double rows) const {
    const auto part = as_double(pq.dsub);
    const auto count = as_double(pq.ksub);
    return kFloat * part * rows + clustering_bytes(rows, part, count, pq.cp) +
           threads * kFloat * count + 4 * kFloat * as_double(pq.d) * count;
  }

  double lists_bytes(const ::faiss::IndexIVF& index, double rows) const {
    const auto lists = as_double(index.nlist);
    const ::faiss::Index& quantizer = *index.quantizer;
    // An index that stands in for the quantizer, or the quantizer, finds clusters.
    double bytes = clustering_bytes(rows, index.d, lists, index.cp) +
                   Search{rows, 1, threads}.bytes(quantizer);
    if (index.quantizer_trains_alone != 0) bytes += this->bytes(quantizer, rows);
    // Linking a graph: nodes seen and candidates of a thread, levels, locks and links.
    if (const auto* hnsw = as<::faiss::IndexHNSW>(quantizer))
      bytes += lists * (threads * 65 + 64 + 12 * hnsw->hnsw.nb_neighbors(0));
    return bytes;
  }

  /// Of rows that are drawn again, and assigned to their lists.
  double residual_bytes(const ::faiss::IndexIVF& index, double rows) const {
    const double row = 3 * kFloat * index.d + sizeof(idx_t);
    const ::faiss::ProductQuantizer* pq = nullptr;
    if (const auto* lists = as<::faiss::IndexIVFPQ>(index)) pq = &lists->pq;
    if (const auto* lists = as<::faiss::IndexIVFPQFastScan>(index)) pq = &lists->pq;
    if (pq == nullptr) return row * std::min(rows, 100000.0);
    const double drawn = std::min(rows, as_double(pq->ksub) * pq->cp.max_points_per_centroid);
    double bytes = row * drawn + product_bytes(*pq, drawn);
    if (const auto* refined = as<::faiss::IndexIVFPQR>(index))
      bytes += row * drawn + product_bytes(refined->refine_pq, drawn);
    return bytes;
  }

  /// Rows drawn, turned and decoded, and a product quantizer of 256 centroids a part.
  double opq_bytes(const ::faiss::OPQMatrix& opq, double rows) const {
    const double drawn = std::min(rows, as_double(opq.max_train_points));
    const double part = static_cast<double>(opq.d_out) / opq.M;
    return kFloat * drawn * (3 * opq.d_in + 3 * opq.d_out + part) + drawn * opq.M +
           clustering_bytes(drawn, part, 256, {}) + threads * kFloat * 256 +
           8 * kFloat * 256 * opq.d_out + 8.0 * opq.d_in * opq.d_in * 4;
  }
};

/// Rows that a query of a range search can find.
double most_found(const ::faiss::Index& index, double nprobe) {
  const auto rows = as_double(index.ntotal);
  const auto* ivf = as<::faiss::IndexIVF>(index);
  if (ivf == nullptr) return rows;
  size_t longest = 0;
  for (size_t list = 0; list < ivf->nlist; ++list)
    longest = std::max(longest, ivf->get_list_size(list));
  return std::min(rows, as_double(longest) * (nprobe > 0 ? nprobe : as_double(ivf->nprobe)));
}

/// What is found stands in buffers of threads, or of blocks of rows where products of matrices find
/// it, and then in the result.
double found_bytes(double queries, double found, double buffers) {
  constexpr double kBuffer = kResult * 1024 * 256;  // FAISS's, RangeSearchResult::buffer_size
  return 2 * kResult * queries * found + buffers * (kBuffer + kThread + 96 * queries);
}

RangePart part_of_flat(const ::faiss::IndexFlat& index, idx_t n) {
  const idx_t block = ::faiss::distance_compute_blas_database_bs;
  const idx_t threshold = ::faiss::distance_compute_blas_threshold;
  const bool by_products = n >= threshold;
  for (RangePart part = {n, index.ntotal};;) {
    const double buffers =
        by_products ? as_double(part.rows) / as_double(block) + 1 : call_threads();
    if (has_memory(product_bytes(as_double(n), as_double(part.rows)) +
                   found_bytes(as_double(part.queries), as_double(part.rows), buffers)))
      return part;
    if (part.rows > block) {
      part.rows = (part.rows / 2 + block - 1) / block * block;
    } else if (part.queries >= (by_products ? 4 * threshold : 2)) {
      part.queries = (part.queries + 1) / 2;
    } else {
      throw std::bad_alloc();
    }
  }
}

}  // namespace

void require_search_memory(const ::faiss::Index& index, idx_t n, idx_t k, idx_t nprobe) {
  require_memory(
      Search{as_double(n), as_double(k), call_threads(), as_double(nprobe)}.bytes(index));
}

RangePart part_of_range_search(const ::faiss::Index& index, idx_t n, idx_t nprobe) {
  const auto* flat = as<::faiss::IndexFlat>(index);
  const bool has_products =
      index.metric_type == ::faiss::METRIC_L2 || index.metric_type == ::faiss::METRIC_INNER_PRODUCT;
  if (flat != nullptr && has_products) return part_of_flat(*flat, n);
  const double threads = call_threads();
  const double found = most_found(index, as_double(nprobe));
  for (idx_t queries = n;; queries = (queries + 1) / 2) {
    const Search search = {as_double(queries), 1, threads, as_double(nprobe)};
    if (has_memory(search.bytes(index) + found_bytes(search.queries, found, threads)))
      return {queries, index.ntotal};
    if (queries == 1) throw std::bad_alloc();
  }
}

void require_training_memory(const ::faiss::Index& index, idx_t n) {
  require_memory(Training{call_threads()}.bytes(index, as_double(n)));
}

void require_packing_memory(const ::faiss::Index& index, idx_t n) {
  double rows = as_double(n);
  double bytes = kThread;
  const ::faiss::ProductQuantizer* pq = nullptr;
  if (const auto* lists = as<::faiss::IndexIVFFastScan>(index)) {
    // The map from ids is of all rows; FAISS takes them in blocks.
    bytes += 80 * rows + 16 * as_double(lists->direct_map.hashtable.size());
    rows = std::min(rows, 65536.0);
    bytes += Search{rows, 1, call_threads()}.bytes(*lists->quantizer) +
             rows * (4 * as_double(lists->code_size) + kFloat * index.d + 32);
    if (const auto* product = as<::faiss::IndexIVFPQFastScan>(index)) pq = &product->pq;
  } else if (const auto* codes = as<::faiss::IndexPQFastScan>(index)) {
    bytes += 2 * rows * as_double(codes->code_size);
    pq = &codes->pq;
  } else {
    return;
  }
  // Rows are coded by threads, or by tables where parts are wide.
  if (pq != nullptr)
    bytes += pq->dsub < 16 ? call_threads() * kFloat * as_double(pq->ksub)
                           : std::min(rows, 262144.0) * table_bytes(*pq);
  require_memory(bytes);
}

}  // namespace polarquant
