#include "tests/simulation/window_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <utility>

#include "tests/simulation/pattern.hpp"

namespace headway::simulation {
namespace {

using collectives::operation;
using datatypes::number;
using windows::lock_type;
using windows::pending_list;
using windows::status;

constexpr std::uint32_t context_number = 41;       // behind those of the other work
constexpr std::size_t blocks_bytes_max = 8 << 20;  // of all origins at all targets
constexpr std::uint64_t increment = 1, nobody = 0;
constexpr std::array operators{operation::replace, operation::sum, operation::bxor,
                               operation::no_op};

const datatypes::layout& word_type() { return datatypes::layout::of(number::uint64); }
const datatypes::layout& byte_type() { return datatypes::layout::of(number::byte); }

windows::local_data local_words(const std::uint64_t* at, std::size_t count) {
  auto* const bytes = reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(at));
  return {bytes, static_cast<std::int64_t>(count), &word_type()};
}
windows::remote_data remote_words(std::uint32_t target, std::size_t first, std::size_t count) {
  return {static_cast<int>(target), static_cast<std::int64_t>(first * sizeof(std::uint64_t)),
          static_cast<std::int64_t>(count), &word_type()};
}
windows::local_data local_bytes(std::byte* at, std::size_t count) {
  return {at, static_cast<std::int64_t>(count), &byte_type()};
}
windows::remote_data remote_bytes(std::uint32_t target, std::size_t first, std::size_t count) {
  return {static_cast<int>(target), static_cast<std::int64_t>(first),
          static_cast<std::int64_t>(count), &byte_type()};
}

std::uint64_t changed(operation how, std::uint64_t old, std::uint64_t operand) {
  switch (how) {
    case operation::replace:
      return operand;
    case operation::sum:
      return old + operand;
    case operation::bxor:
      return old ^ operand;
    default:  // no_op
      return old;
  }
}

std::uint64_t key_of(std::uint32_t target, std::uint32_t writer, std::uint32_t version) {
  return (std::uint64_t{target} << 48) ^ (std::uint64_t{writer} << 32) ^ version;
}

std::byte* base_of(window_plan::window& w) { return reinterpret_cast<std::byte*>(w.memory.data()); }

}  // namespace

window_plan::window_plan(std::uint32_t count, std::uint32_t each, std::size_t bytes_max)
    : processes(count),
      episodes(each),
      block_bytes(std::min({bytes_max, blocks_bytes_max / count / count, pattern_bytes_max}) / 8 *
                  8) {
  if (episodes == 0) return;
  for (std::uint32_t i = 0; i < processes; ++i) {
    auto& w = *windows.emplace_back(std::make_unique<window>());
    w.memory.resize(block_at(processes) / sizeof(std::uint64_t));
    w.blocks.resize(processes);
  }
}

window_traffic::window_traffic(process& on, window_plan& all, std::uint64_t seed)
    : on_(on),
      plan_(all),
      dice_(seed),
      context_(on.open(context_number, true)),
      memory_(base_of(*all.windows[on.self()]),
              static_cast<std::int64_t>(all.block_at(all.processes))),
      target_(on.messages(), *context_, memory_,
              {all.windows[on.self()]->line, windows::own_holder()}, counts_.served),
      wire_(on.messages(), *context_),
      left_(all.episodes),
      at_(all.processes) {
  for (auto& each : at_) each.own.resize(window_plan::own_words);
  target_.start();
}

window_traffic::~window_traffic() = default;

void window_traffic::complain_of(std::uint32_t target, const std::string& why) {
  complain(fmt::format("process {}, window of {}: {}", on_.self(), target, why));
}

bool window_traffic::failed(status how) {
  if (how == status::ok) return false;
  ++failed_;
  if (how == status::out_of_range) complain("an operation was outside of its window");
  return true;
}

windows::pending_ptr window_traffic::add(std::uint32_t target, std::size_t word,
                                         std::uint64_t& before) {
  return wire_.fetch(local_words(&increment, 1), local_words(&before, 1),
                     remote_words(target, word, 1), {operation::sum, number::uint64});
}

pending_list window_traffic::start_flush(std::uint32_t target) {
  at_[target].unflushed = false;
  return wire_.start_flush(static_cast<int>(target));
}

// ---- litmus tests -------------------------------------------------------------------------------

episode window_traffic::count(std::uint32_t target) {
  auto& w = *plan_.windows[target];
  ++w.additions;
  std::uint64_t before = 0;
  if (failed(co_await ended(add(target, window_plan::counter, before)))) co_return;
  if (before >= w.additions)
    complain_of(target,
                fmt::format("{} fetched of a counter after {} additions", before, w.additions));
  if (!w.taken.insert(before).second)
    complain_of(target, fmt::format("{} fetched twice of a counter", before));
}

episode window_traffic::change_own(std::uint32_t target) {
  struct look {
    std::vector<std::uint64_t> before, due;
  };
  auto& state = at_[target];
  std::deque<look> looks;  // which do not move
  pending_list until;
  for (auto left = dice_.between(1, 10); left > 0; --left) {
    const auto most = dice_.one_in(6) ? window_plan::own_words : 4;
    const bool swaps = dice_.one_in(5);
    const auto length = swaps ? 1 : dice_.between(1, most);
    // The same few elements most of the time.
    const auto first = dice_.one_in(4) ? dice_.below(window_plan::own_words - length + 1) : 0;
    const auto there = remote_words(target, plan_.own_word(on_.self()) + first, length);
    const auto own = std::span(state.own).subspan(first, length);
    auto& seen = looks.emplace_back(std::vector<std::uint64_t>(length),
                                    std::vector<std::uint64_t>(own.begin(), own.end()));
    std::vector<std::uint64_t> operand(length);
    for (auto& each : operand) each = dice_.next();
    ++state.changes;
    const auto before = local_words(seen.before.data(), length);
    if (swaps) {
      const auto expected = dice_.one_in(3) ? dice_.next() : own.front();
      until.push_back(wire_.compare_and_swap(local_words(operand.data(), 1).at,
                                             local_words(&expected, 1).at, before.at, there));
      if (own.front() == expected) own.front() = operand.front();
      continue;
    }
    const auto how = operators[dice_.below(operators.size())];
    const auto fetches = how == operation::no_op || dice_.one_in(3);
    for (std::size_t i = 0; i < length; ++i) own[i] = changed(how, own[i], operand[i]);
    if (fetches) {
      const auto with =
          how == operation::no_op ? local_words(nullptr, 0) : local_words(operand.data(), length);
      until.push_back(wire_.fetch(with, before, there, {how, number::uint64}));
    } else {
      seen.due = seen.before;  // nothing is fetched
      until.push_back(
          wire_.accumulate(local_words(operand.data(), length), there, {how, number::uint64}));
    }
  }
  const bool flushes = looks.size() > until.size() || dice_.one_in(2) ||
                       std::ranges::all_of(until, [](const auto& p) { return p == nullptr; });
  if (flushes) std::ranges::copy(start_flush(target), std::back_inserter(until));
  const auto mine = state.changes;
  if (failed(co_await ended(until))) co_return;
  for (const auto& each : looks)
    if (each.before != each.due)
      complain_of(target, "an origin's own accumulates have their effect in another order");
  const auto* const there = &plan_.windows[target]->memory[plan_.own_word(on_.self())];
  if (flushes && mine == state.changes &&
      !std::ranges::equal(state.own, std::span(there, window_plan::own_words)))
    complain_of(target, "accumulates have not had their effect when a flush has ended");
}

episode window_traffic::put(std::uint32_t target) {
  auto& mine = plan_.windows[target]->blocks[on_.self()];
  mine.changes = true;
  mine.bytes = dice_.between(
      1, dice_.one_in(3) ? plan_.block_bytes : std::min(plan_.block_bytes, std::size_t{200}));
  const auto key = key_of(target, on_.self(), ++mine.version);
  std::vector<std::byte> from(mine.bytes);
  write_pattern(std::span(from), mine.version, key);
  pending_list until;
  for (std::size_t at = 0, length = 0; at < from.size(); at += length) {
    length = dice_.one_in(2) ? from.size() - at : dice_.between(1, from.size() - at);
    auto left = wire_.put(local_bytes(from.data() + at, length),
                          remote_bytes(target, plan_.block_at(on_.self()) + at, length));
    at_[target].unflushed = true;
    if (!left) std::ranges::fill(std::span(from).subspan(at, length), std::byte{0xee});
    else until.push_back(std::move(left));
  }
  if (dice_.one_in(3)) {  // the buffers first
    if (failed(co_await ended(until))) co_return;
    std::ranges::fill(from, std::byte{0xee});
    until.clear();
  }
  std::ranges::copy(start_flush(target), std::back_inserter(until));
  if (failed(co_await ended(until))) co_return;
  const std::span there(base_of(*plan_.windows[target]) + plan_.block_at(on_.self()), mine.bytes);
  if (!has_pattern(there, mine.version, key))
    complain_of(target, fmt::format("{} bytes are not there when a flush has ended", mine.bytes));
  mine.changes = false;
}

episode window_traffic::get(std::uint32_t target, std::uint32_t writer) {
  auto& there = plan_.windows[target]->blocks[writer];
  ++there.readers;
  std::vector<std::byte> into(there.bytes);
  if (failed(co_await ended(wire_.get(local_bytes(into.data(), into.size()),
                                      remote_bytes(target, plan_.block_at(writer), into.size())))))
    co_return;
  if (!has_pattern(std::span(into), there.version, key_of(target, writer, there.version)))
    complain_of(target, fmt::format("{} bytes that {} has put and flushed are not there",
                                    into.size(), writer));
  --there.readers;
}

episode window_traffic::enter_by_swap(std::uint32_t target) {
  constexpr std::uint64_t pause_min_ns = 10'000, pause_max_ns = 10'000'000;
  auto& w = *plan_.windows[target];
  const std::uint64_t mine = on_.self() + 1;
  const auto swap = [&](const std::uint64_t& value, const std::uint64_t& expected,
                        std::uint64_t& before) {
    return wire_.compare_and_swap(local_words(&value, 1).at, local_words(&expected, 1).at,
                                  local_words(&before, 1).at,
                                  remote_words(target, window_plan::cas_lock, 1));
  };
  std::uint64_t holder = mine;
  at_[target].swaps = true;
  for (auto longest_ns = pause_min_ns;; longest_ns = std::min(2 * longest_ns, pause_max_ns)) {
    if (failed(co_await ended(swap(mine, nobody, holder)))) co_return;
    if (holder == 0) break;
    co_await pause{on_, dice_.below(longest_ns)};
    if (lost_) co_return;
  }
  if (w.inside)
    complain_of(target, fmt::format("a lock by compare-and-swap is held by {} as well", *w.inside));
  w.inside = on_.self();
  std::uint64_t value = 0;
  const auto guarded = remote_words(target, window_plan::guarded, 1);
  if (failed(co_await ended(wire_.get(local_words(&value, 1), guarded)))) co_return;
  if (value != w.increments)
    complain_of(target, fmt::format("{} under a lock, after {} increments", value, w.increments));
  ++value;
  pending_list until;
  until.push_back(wire_.put(local_words(&value, 1), guarded));
  at_[target].unflushed = true;
  std::ranges::copy(start_flush(target), std::back_inserter(until));
  if (failed(co_await ended(until))) co_return;
  ++w.increments;
  w.inside.reset();  // before another one can know
  if (failed(co_await ended(swap(nobody, mine, holder)))) co_return;
  if (holder != mine) complain_of(target, fmt::format("its lock became that of {}", holder));
  at_[target].swaps = false;
}

void window_traffic::enter(std::uint32_t target, lock_type how) {
  auto& w = *plan_.windows[target];
  if (w.exclusive > 0 || (how == lock_type::exclusive && w.sharing > 0))
    complain_of(target, fmt::format("{} locked, with {} exclusive and {} shared holders",
                                    how == lock_type::exclusive ? "exclusively" : "shared",
                                    w.exclusive, w.sharing));
  ++(how == lock_type::exclusive ? w.exclusive : w.sharing);
}

void window_traffic::leave(std::uint32_t target, lock_type how) {
  auto& w = *plan_.windows[target];
  --(how == lock_type::exclusive ? w.exclusive : w.sharing);
}

void window_traffic::look_for_overtaking(std::uint32_t target, const window_plan::visit& last) {
  const auto overtaken = [](const auto& earlier, const auto& later) {
    return (earlier.exclusive || later.exclusive) && earlier.after < later.before &&
           earlier.granted > later.granted;
  };
  for (const auto& other : plan_.windows[target]->visits)
    if (overtaken(other, last) || overtaken(last, other))
      complain_of(target, fmt::format("a lock was granted before another that was requested "
                                      "earlier: {} {} {}, {} {} {}",
                                      other.before, other.after, other.granted, last.before,
                                      last.after, last.granted));
}

episode window_traffic::enter_by_lock(std::uint32_t target, lock_type how) {
  auto& w = *plan_.windows[target];
  auto& state = at_[target];
  const auto rank = static_cast<int>(target);
  const bool near = (on_.self() ^ 1u) == target;  // as if it mapped the target's control line
  state.locks = true;
  constexpr std::uint64_t held_max_ns = 50'000;
  window_plan::visit mine{.exclusive = how == lock_type::exclusive};
  if (failed(co_await ended(add(target, window_plan::arrivals, mine.before)))) co_return;
  pending_list until;
  if (!near || !w.line.lock.try_lock(how)) until = wire_.start_lock(rank, how);
  until.push_back(add(target, window_plan::arrivals, mine.after));
  if (failed(co_await ended(until))) co_return;
  enter(target, how);
  const auto epochs = w.memory[window_plan::epochs];
  if (failed(co_await ended(add(target, window_plan::grants, mine.granted)))) co_return;
  co_await pause{on_, dice_.below(held_max_ns)};
  while (!near && state.unflushed)
    if (failed(co_await ended(start_flush(target)))) co_return;
  if (w.memory[window_plan::epochs] != epochs)
    complain_of(target,
                "an epoch in one message has changed it while another process had its lock");
  leave(target, how);
  if (!near) {
    if (failed(co_await ended(wire_.start_unlock(rank, how)))) co_return;
  } else if (w.line.lock.unlock(how)) {
    wire_.report_release(rank);
  }
  look_for_overtaking(target, mine);
  w.visits.push_back(mine);
  state.locks = false;
}

episode window_traffic::visit_in_one_message(std::uint32_t target) {
  auto& state = at_[target];
  const auto rank = static_cast<int>(target);
  state.locks = true;
  while (state.unflushed)
    if (failed(co_await ended(start_flush(target)))) co_return;
  pending_list until = start_flush(target);  // nothing is collected now
  if (failed(wire_.lock_with_operations(rank, lock_type::exclusive))) co_return;
  static_cast<void>(wire_.accumulate(local_words(&increment, 1),
                                     remote_words(target, window_plan::epochs, 1),
                                     {operation::sum, number::uint64}));
  const auto begun = plan_.windows[target]->memory[window_plan::epochs];
  std::ranges::copy(wire_.start_unlock(rank, lock_type::exclusive), std::back_inserter(until));
  if (failed(co_await ended(until))) co_return;
  if (plan_.windows[target]->memory[window_plan::epochs] <= begun)
    complain_of(target, "an epoch in one message has had no effect when it has ended");
  state.locks = false;
}

// ---- work ---------------------------------------------------------------------------------------

episode window_traffic::start_one() {
  const auto self = on_.self();
  // Most of the time all want the same ones.
  const auto reach = dice_.one_in(3) ? plan_.processes - 1 : std::min(plan_.processes - 1, 2u);
  auto target = static_cast<std::uint32_t>(dice_.below(reach));
  if (target >= self) ++target;
  const auto writer = static_cast<std::uint32_t>(dice_.below(plan_.processes));
  auto& blocks = plan_.windows[target]->blocks;
  switch (dice_.below(7)) {
    case 0:
      if (!blocks[self].changes && blocks[self].readers == 0) return put(target);
      break;
    case 1:
      if (!blocks[writer].changes && blocks[writer].version > 0) return get(target, writer);
      break;
    case 2:
      return change_own(target);
    case 3:
      if (!at_[target].swaps) return enter_by_swap(target);
      break;
    case 4:
      if (!at_[target].locks)
        return enter_by_lock(target, dice_.one_in(2) ? lock_type::shared : lock_type::exclusive);
      break;
    case 5:
      if (!at_[target].locks) return visit_in_one_message(target);
      break;
    default:
      break;
  }
  return count(target);
}

void window_traffic::check(bool) {
  for (auto& each : running_) {
    if (each.may_resume(on_.now_ns())) {
      each.resume();
      on_.wake_at(on_.now_ns());  // its engine has run already, and there may be more to do
    }
    if (each.not_before_ns() > on_.now_ns()) on_.wake_at(each.not_before_ns());
  }
  checked_ += std::erase_if(running_, [](const episode& each) { return each.over(); });
}

void window_traffic::start_some() {
  while (left_ > 0 && running_.size() < under_way_max && !dice_.one_in(3)) {
    running_.push_back(start_one());
    --left_;
  }
}

bool window_traffic::may_start() const { return left_ > 0 && running_.size() < under_way_max; }

bool window_traffic::done() const { return left_ == 0 && running_.empty(); }

void window_traffic::process_died(std::uint32_t) {
  lost_ = true;
  left_ = 0;
}

void window_traffic::close() {
  if (!lost_ && done()) target_.stop();  // else it holds answers that it has not sent
  running_.clear();
  on_.messages().close_context(context_);
}

std::string window_traffic::state() const {
  auto text = fmt::format(" {} one-sided episodes to start, {} under way{}, which wait for", left_,
                          running_.size(), target_.has_lost() ? ", its own window lost" : "");
  for (const auto& each : running_) text += fmt::format(" {}", each.awaited());
  return text + " operations;";
}

}  // namespace headway::simulation
