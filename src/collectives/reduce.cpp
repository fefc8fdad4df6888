// The algorithms of reduce, in messages: each builds a schedule (algorithms.hpp).
#include <utility>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/partition.hpp"

namespace headway::collectives {
namespace {

/// Up to this size, a rank receives from all its children at once, each into its own memory.
constexpr std::int64_t at_once_bytes_max = 32 * 1024;

/// The partial result of a rank in a reduction up a tree: which buffer holds it now.
class partial_result {
 public:
  partial_result(schedule& s, const reduction& r, void* result)
      : schedule_(s),
        values_(s, *r.type),
        reduction_(r),
        result_(static_cast<std::byte*>(result)) {}

  /// Combines it with the values of `children`, which cover the ranks after this one, in order.
  void add(const std::vector<int>& children) {
    if (children.empty()) return;
    copy_input();
    const auto all = reduction_.bytes() * static_cast<std::int64_t>(children.size());
    if (all <= at_once_bytes_max) {
      add_at_once(children);
    } else {
      add_one_by_one(children);
    }
  }

  [[nodiscard]] const void* now() const noexcept { return now_ ? now_ : reduction_.input(); }
  void send(int peer) { values_.send(peer, now(), reduction_.count); }
  void deliver(void* to) { values_.copy(now(), to, reduction_.count); }
  values& all() noexcept { return values_; }

 private:
  /// Makes a writable copy of this rank's contribution.
  void copy_input() {
    now_ = result_ ? result_ : values_.scratch(reduction_.count);
    values_.copy(reduction_.input(), now_, reduction_.count);
  }
  void add_at_once(const std::vector<int>& children) {
    std::vector<std::byte*> received;
    for (const int child : children) {
      received.push_back(values_.scratch(reduction_.count));
      values_.receive(child, received.back(), reduction_.count);
    }
    values_.settle();
    for (std::byte*& right : received) fold(right);
  }
  void add_one_by_one(const std::vector<int>& children) {
    std::byte* right = values_.scratch(reduction_.count);
    for (const int child : children) {
      values_.receive(child, right, reduction_.count);
      values_.settle();
      fold(right);
    }
  }
  /// Combines it with the next value to the right; afterwards `right` is the free buffer.
  void fold(std::byte*& right) {
    if (reduction_.op.commutative) {
      schedule_.combine(right, now_, reduction_.count);
    } else {
      schedule_.combine(now_, right, reduction_.count);
      std::swap(now_, right);
    }
  }

  schedule& schedule_;
  values values_;
  const reduction& reduction_;
  std::byte* result_;  // where the root needs it, or null
  std::byte* now_ = nullptr;
};

std::vector<int> children_of(tree shape, int v, const team& t, int root) {
  std::vector<int> children;
  each_child(shape, v, t.size, [&](int child) { children.push_back((child + root) % t.size); });
  return children;
}

}  // namespace

void reduce_tree(schedule& s, const team& t, const reduction& r, int root, tree shape) {
  if (r.count == 0 || r.type->size() == 0) return;
  s.set_reducer(r.op);
  // If the operator commutes, the root is the top of the tree; otherwise rank 0 is.
  const int top = r.op.commutative ? root : 0;
  const int v = (t.rank - top + t.size) % t.size;
  partial_result value(s, r, t.rank == root && v == 0 ? r.receive : nullptr);
  value.add(children_of(shape, v, t, top));
  if (v != 0) {
    value.send((parent_of(shape, v) + top) % t.size);
    s.close_round();
  } else if (t.rank != root) {
    value.send(root);
    s.close_round();
  } else {
    value.deliver(r.receive);
  }
  if (t.rank == root && v != 0) {
    value.all().receive(top, r.receive, r.count);
    value.all().settle();
  }
}

void reduce_scatter_gather(schedule& s, const team& t, const reduction& r, int root) {
  if (r.count == 0 || r.type->size() == 0) return;
  values v(s, *r.type);
  const partition part(r.count, t.size);
  const auto mine = part.length(t.rank);
  const bool collects = t.rank == root;
  std::byte* result = collects ? v.at(r.receive, part.begin(root)) : v.scratch(mine);
  reduce_own_part(s, t, r, part, result);
  if (!collects) {
    if (mine > 0) v.send(root, result, mine);
    s.close_round();
    return;
  }
  for (int peer = 0; peer < t.size; ++peer) {
    if (peer == root || part.length(peer) == 0) continue;
    v.receive(peer, v.at(r.receive, part.begin(peer)), part.length(peer));
  }
  v.settle();
}

}  // namespace headway::collectives
