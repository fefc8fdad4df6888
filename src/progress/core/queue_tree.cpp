#include "progress/core/queue_tree.hpp"

namespace headway::progress {

queue_tree::queue_tree(const topology::machine& machine, bool excluded_by_others)
    : machine_(machine), count_(machine.places().size()), nodes_(std::make_unique<node[]>(count_)) {
  for (std::size_t i = 0; i < count_; ++i) {
    const auto& place = machine.places()[i];
    const auto& parent = machine.places()[static_cast<std::size_t>(place.parent)];
    nodes_[i].parent = static_cast<std::uint32_t>(parent.id);
    nodes_[i].queue.excluded_by_others(excluded_by_others);
    nodes_[i].siblings = i == 0 ? 1 : static_cast<std::uint32_t>(parent.children);
  }
}

task_queue::found queue_tree::add(outcome& sum, const task_queue::outcome& one) noexcept {
  sum.advanced |= one.what == task_queue::found::advanced;
  sum.met_taken_mask |= one.what == task_queue::found::taken;
  sum.one_shots += one.one_shots;
  return one.what;
}

bool queue_tree::may_climb(node& from, round_kind kind) noexcept {
  const auto left = from.skips_left.load(std::memory_order_relaxed);  // a hint, carries nothing
  if (left == 0) {
    if (kind == round_kind::background && from.siblings > 1)
      from.skips_left.store(from.siblings - 1, std::memory_order_relaxed);
    return true;
  }
  from.skips_left.store(left - 1, std::memory_order_relaxed);
  return false;
}

queue_tree::outcome queue_tree::climb_from(topology::place_id leaf, thread_record& me,
                                           round_kind kind) noexcept {
  outcome sum;
  node* at = &node_at(leaf);
  add(sum, at->queue.visit(me, kind));
  while (at != &nodes_[0]) {
    if (!may_climb(*at, kind)) return sum;
    node& parent = nodes_[at->parent];
    if (add(sum, parent.queue.visit(me, kind)) == task_queue::found::taken && at->siblings > 1)
      at->skips_left.store(at->siblings - 1, std::memory_order_relaxed);
    at = &parent;
  }
  return sum;
}

queue_tree::outcome queue_tree::sweep(thread_record& me, round_kind kind) noexcept {
  outcome sum;
  for (std::size_t i = count_; i-- > 0;) add(sum, nodes_[i].queue.visit(me, kind));
  return sum;
}

bool queue_tree::has_submissions() const noexcept {
  for (std::size_t i = 0; i < count_; ++i)
    if (nodes_[i].queue.has_submissions()) return true;
  return false;
}

bool queue_tree::has_taken() const noexcept {
  for (std::size_t i = 0; i < count_; ++i)
    if (nodes_[i].queue.has_taken()) return true;
  return false;
}

std::uint32_t queue_tree::taken_count() const noexcept {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < count_; ++i) sum += nodes_[i].queue.taken_count();
  return sum;
}

task_queue::counters queue_tree::count() const noexcept {
  task_queue::counters sum;
  for (std::size_t i = 0; i < count_; ++i) {
    const auto c = nodes_[i].queue.count();
    sum.explicit_rounds += c.explicit_rounds;
    sum.background_rounds += c.background_rounds;
    sum.hits += c.hits;
    sum.runs += c.runs;
    sum.skips += c.skips;
  }
  return sum;
}

}  // namespace headway::progress
