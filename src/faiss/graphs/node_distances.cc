// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/node_distances.h"

#include <faiss/impl/DistanceComputer.h>

#include <algorithm>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/graphs/graph_search.h"
#include "src/scan/search/top_k.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {
namespace {

class PolarNodeDistances final : public NodeDistances {
 public:
  explicit PolarNodeDistances(const IndexPolar& storage)
      : higher_is_nearer_(storage.codec().higher_is_nearer()),
        scorer_(storage.codes().make_scorer(storage.codec())) {}

  void set_query(const float* x) override { scorer_->set_query(x, kGraphExactness); }
  void from_query(const Node* nodes, int count, float* distances) override {
    scorer_->score(nodes, count, distances);
    to_keys(distances, count);
  }
  void fetch(const Node* nodes, int count) const override { scorer_->fetch(nodes, count); }
  int keep_reaching(Node* nodes, int count, float farthest) const override {
    return scorer_->keep_reaching(nodes, count, farthest);
  }
  void between(Node node, const Node* nodes, int count, float* distances) override {
    scorer_->score_rows(node, nodes, count, distances);
    to_keys(distances, count);
  }
  void forget_chosen() override { scorer_->forget_chosen(); }
  bool is_near_chosen(Node node, float distance) override {
    return scorer_->is_near_chosen(node, distance);
  }
  void choose() override { scorer_->choose(); }

 private:
  void to_keys(float* scores, int count) const {
    for (int i = 0; i < count; ++i) scores[i] = key_of_score(scores[i], higher_is_nearer_);
  }

  bool higher_is_nearer_;
  std::unique_ptr<RowScorer> scorer_;
};

class FaissNodeDistances final : public NodeDistances {
 public:
  explicit FaissNodeDistances(const ::faiss::Index& storage)
      : computer_(storage.get_distance_computer()),
        sign_(storage.metric_type == ::faiss::METRIC_INNER_PRODUCT ? -1.0F : 1.0F) {}

  void set_query(const float* x) override { computer_->set_query(x); }
  void from_query(const Node* nodes, int count, float* distances) override {
    for (int i = 0; i < count; ++i) distances[i] = sign_ * (*computer_)(nodes[i]);
  }
  void between(Node node, const Node* nodes, int count, float* distances) override {
    for (int i = 0; i < count; ++i) distances[i] = sign_ * computer_->symmetric_dis(node, nodes[i]);
  }
  void forget_chosen() override { chosen_.clear(); }
  bool is_near_chosen(Node node, float distance) override {
    asked_ = node;
    return std::any_of(chosen_.begin(), chosen_.end(), [&](Node chosen) {
      return sign_ * computer_->symmetric_dis(chosen, node) < distance;
    });
  }
  void choose() override { chosen_.push_back(asked_); }

 private:
  std::unique_ptr<::faiss::DistanceComputer> computer_;
  float sign_;
  std::vector<Node> chosen_;
  Node asked_ = -1;
};

}  // namespace

std::unique_ptr<NodeDistances> NodeDistances::make(const ::faiss::Index& storage) {
  if (const auto* polar = dynamic_cast<const IndexPolar*>(&storage))
    return std::make_unique<PolarNodeDistances>(*polar);
  return std::make_unique<FaissNodeDistances>(storage);
}

}  // namespace polarquant
