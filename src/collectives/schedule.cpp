#include "collectives/schedule.hpp"

#include <algorithm>
#include <functional>

#include "base/assert.hpp"
#include "collectives/shared_exchange.hpp"

namespace headway::collectives {
namespace {

/// A result of so many bytes leaves the caches before the program reads it
/// (docs/decisions/0028-streaming-stores.md).
constexpr std::int64_t streamed_result_bytes_min = 4 * 1024 * 1024;

[[maybe_unused]] bool apart(const void* a, const void* b, std::int64_t bytes) noexcept {
  const auto* one = static_cast<const std::byte*>(a);
  const auto* other = static_cast<const std::byte*>(b);
  return std::less_equal<>()(one + bytes, other) || std::less_equal<>()(other + bytes, one);
}

}  // namespace

schedule::schedule() = default;
schedule::~schedule() = default;

void schedule::open_round() {
  if (open_ != none) return;
  open_ = steps_.size();
  add({.what = kind::open,
       .number = 0,
       .amount = 0,
       .from = nullptr,
       .to = nullptr,
       .type = nullptr});
}

void schedule::send(int peer, const void* from, std::int64_t bytes) {
  HEADWAY_DEBUG_ASSERT(peer >= 0 && bytes >= 0);
  open_round();
  ++steps_[open_].number;
  add({kind::send, bound_rank(peer), bytes, from, nullptr, nullptr});
}

void schedule::receive(int peer, void* to, std::int64_t bytes) {
  HEADWAY_DEBUG_ASSERT(peer >= 0 && bytes >= 0);
  open_round();
  ++steps_[open_].number;
  add({kind::receive, bound_rank(peer), bytes, nullptr, to, nullptr});
}

void schedule::close_round() {
  if (open_ == none) return;
  const int messages = steps_[open_].number;
  open_ = none;
  add({kind::close, messages, 0, nullptr, nullptr, nullptr});
  if (messages > requests_held_) {
    requests_held_ = std::max(messages, 4);
    requests_ = std::make_unique<messages::request[]>(static_cast<std::size_t>(requests_held_));
  }
}

void schedule::add_copy(kind how, const void* from, void* to, std::int64_t bytes) {
  HEADWAY_DEBUG_ASSERT(bytes >= 0 && (from == to || apart(from, to, bytes)));
  if (bytes > 0 && from != to) add({how, 0, bytes, from, to, nullptr});
}

void schedule::copy_result(const void* from, void* to, std::int64_t bytes) {
  const bool streams = bytes >= streamed_result_bytes_min;
  add_copy(streams ? kind::copy_past_caches : kind::copy, from, to, bytes);
}

void schedule::pack(const datatypes::layout& type, const void* from, std::int64_t count,
                    std::byte* to) {
  HEADWAY_DEBUG_ASSERT(count >= 0);
  if (count > 0) add({kind::pack, 0, count, from, to, &type});
}

void schedule::unpack(const datatypes::layout& type, const std::byte* from, void* to,
                      std::int64_t count) {
  HEADWAY_DEBUG_ASSERT(count >= 0);
  if (count > 0) add({kind::unpack, 0, count, from, to, &type});
}

void schedule::combine(const void* left, void* right, std::int64_t count) {
  HEADWAY_DEBUG_ASSERT(count >= 0);
  if (count > 0) add({kind::combine, 0, count, left, right, nullptr});
}

void schedule::add_exchange(shared_exchange& what) {
  auto* const free = std::ranges::find(exchanges_, nullptr);
  HEADWAY_ASSERT(free != std::end(exchanges_));
  *free = &what;
  add({kind::exchange, 0, 0, nullptr, &what, nullptr});
}

int schedule::exchanges() const noexcept {
  return static_cast<int>(std::ranges::find(exchanges_, nullptr) - std::begin(exchanges_));
}

void schedule::bind_each(std::uint64_t operation, std::uint64_t history) noexcept {
  for (auto* each : exchanges_)
    if (each) each->bind(operation, history);
}

std::optional<std::int64_t> schedule::stream_bytes_max() const noexcept {
  std::optional<std::int64_t> most;
  for (const auto* each : exchanges_)
    if (each) most = std::max(most.value_or(0), each->stream_bytes());
  return most;
}

void schedule::clear() noexcept {
  steps_.clear();
  kept_.clear();
  for (const held& h : held_) h.let_go(h.what);
  held_.clear();
  scratch_.clear();
  ranks_ = {};
  open_ = none;
  std::ranges::fill(exchanges_, nullptr);
  persistent_ = false;
  own_banks_ = nullptr;
  refused_ = false;
}

bool schedule::receives_from(int rank) const noexcept {
  return std::ranges::any_of(
      steps_, [&](const step& s) { return s.what == kind::receive && s.number == rank; });
}

}  // namespace headway::collectives
