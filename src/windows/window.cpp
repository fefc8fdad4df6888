#include "windows/window.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/copy_small.hpp"
#include "base/fence.hpp"

namespace headway::windows {
namespace {

/// What `member` says of its pointers.
bool is_whole(const member& m, const window::parts& of) noexcept {
  if (m.displacement_unit <= 0 || m.bytes < 0) return false;
  if (m.by != way::wire && m.line == nullptr) return false;
  if (m.by == way::nearby && of.copies == nullptr) return false;
  if ((m.to == nullptr) != (m.from == nullptr)) return false;
  return m.to == nullptr || (m.line != nullptr && of.wakes != nullptr);
}

/// Whether the data, if there is any, is one element of a predefined type.
template <class Data>
bool is_one(const Data* data, datatypes::number kind) noexcept {
  return data == nullptr || (data->count == 1 && data->type->kind() == kind);
}

}  // namespace

window::window(parts made)
    : block_(std::move(made.block)),
      own_block_(std::move(made.own_block)),
      members_(std::move(made.members)),
      counts_(made.counts),
      counts_are_(made.counts_are),
      copies_(made.copies),
      self_(made.context.self),
      dynamic_(made.dynamic),
      oversubscribed_(made.oversubscribed),
      me_(own_holder()),
      engine_(made.exchange.engine()),
      memory_(dynamic_ ? nullptr
                       : reinterpret_cast<std::byte*>(
                             members_[static_cast<std::size_t>(made.context.self)].base),
              made.own_bytes, dynamic_),
      wire_(made.exchange, made.context),
      served_(made.exchange, made.context, memory_, {*made.own_line, me_}, counts_.served) {
  HEADWAY_ASSERT(made.own_bytes >= 0 && 0 <= self_ && self_ < size());
  HEADWAY_ASSERT(made.context.collective && size() == made.context.members->size());
  HEADWAY_ASSERT(std::ranges::all_of(members_, [&](const member& m) { return is_whole(m, made); }));
  if (made.own_slots != nullptr) make_slot_ways(made);
  if (made.wakes != nullptr) make_signals(made);
}

void window::make_signals(const parts& made) {
  std::vector<epoch_signals::peer> peers;
  for (const member& m : members_) {
    if (m.to == nullptr) {
      peers.emplace_back();
    } else {
      peers.push_back(
          {.process = m.process, .fences = &m.line->fences, .from = m.from, .to = m.to});
    }
  }
  signals_.emplace(epoch_signals::parts{.memory = *made.wakes,
                                        .engine = engine_,
                                        .own_fences = made.own_line->fences,
                                        .peers = std::move(peers),
                                        .oversubscribed = oversubscribed_,
                                        .losses = served_,
                                        .own_slots = slot_service_ ? &*slot_service_ : nullptr});
}

void window::make_slot_ways(const parts& made) {
  const int self = made.context.self;
  std::vector<processes::peer_id> processes;
  for (const member& m : members_) processes.push_back(m.process);
  slot_service_.emplace(slot_service::parts{.slots = *made.own_slots,
                                            .staged = made.own_staged,
                                            .memory = memory_,
                                            .line = *made.own_line,
                                            .me = me_,
                                            .copies = copies_,
                                            .processes = std::move(processes)});
  served_.expects_for(*slot_service_);
  slot_ways_.resize(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const member& m = members_[i];
    if (m.by != way::nearby || m.slots == nullptr) continue;
    slot_ways_[i] = std::make_unique<slot_way>(slot_client::target{.slots = *m.slots,
                                                                   .staged = m.staged,
                                                                   .own = *slot_service_,
                                                                   .self = self,
                                                                   .wire = wire_,
                                                                   .rank = static_cast<int>(i),
                                                                   .copies = *copies_,
                                                                   .process = m.process,
                                                                   .base = m.base},
                                               gathering_);
  }
}

void window::start() noexcept {
  served_.start();
  if (slot_service_) slot_service_->start(engine_);
}

void window::stop() noexcept {
  if (slot_service_) slot_service_->stop();
  served_.stop();
}

std::optional<remote_data> window::locate(const place& at) const noexcept {
  HEADWAY_DEBUG_ASSERT(at.count >= 0 && at.type);
  const member& m = members_[static_cast<std::size_t>(at.rank)];
  const auto all = at.type->reach(at.count);
  std::int64_t offset = 0, first = 0, end = 0;
  if (!all || __builtin_mul_overflow(at.displacement, m.displacement_unit, &offset) ||
      __builtin_add_overflow(offset, all->begin, &first) ||
      __builtin_add_overflow(offset, all->end, &end))
    return std::nullopt;
  if (!dynamic_ && (first < 0 || end > m.bytes)) return std::nullopt;
  return remote_data{at.rank, offset, at.count, at.type};
}

near_target window::near(const member& m) const noexcept {
  return {.mapped = m.by == way::mapped ? m.mapped : nullptr,
          .copies = copies_,
          .process = m.process,
          .base = m.base,
          .line = m.line,
          .me = me_,
          .slots = m.by == way::nearby ? slots_to(m) : nullptr};
}

inline std::byte* window::mapped_row(const place& at) const noexcept {
  const member& m = members_[static_cast<std::size_t>(at.rank)];
  std::int64_t offset = 0, bytes = 0, end = 0;
  if (m.by != way::mapped || !at.type->is_contiguous() ||
      __builtin_mul_overflow(at.displacement, m.displacement_unit, &offset) ||
      __builtin_add_overflow(offset, at.type->true_lb(), &offset) ||
      __builtin_mul_overflow(at.count, at.type->size(), &bytes) ||
      __builtin_add_overflow(offset, bytes, &end) || offset < 0 || end > m.bytes || bytes == 0)
    return nullptr;
  return m.mapped + offset;
}

status window::put(const local_data& from, const place& to, pending_ptr& left) {
  const member& m = at(to.rank);
  if (auto* const there = mapped_row(to); there != nullptr && from.is_one_block()) [[likely]] {
    count(m, &statistics::row::puts, to);
    base::copy_small(there, from.block(), static_cast<std::size_t>(from.bytes()));
    return status::ok;
  }
  if (to.count * to.type->size() == 0) return status::ok;
  const auto where = locate(to);
  if (!where) return status::out_of_range;
  count(m, &statistics::row::puts, to);
  if (m.by != way::wire) return windows::put(near(m), from, *where);
  left = wire_.put(from, *where);
  return status::ok;
}

status window::get(const local_data& to, const place& from, pending_ptr& left) {
  const member& m = at(from.rank);
  if (auto* const there = mapped_row(from); there != nullptr && to.is_one_block()) [[likely]] {
    count(m, &statistics::row::gets, from);
    base::copy_small(to.block(), there, static_cast<std::size_t>(to.bytes()));
    return status::ok;
  }
  if (from.count * from.type->size() == 0) return status::ok;
  const auto where = locate(from);
  if (!where) return status::out_of_range;
  count(m, &statistics::row::gets, from);
  if (m.by != way::wire) return windows::get(near(m), to, *where);
  left = wire_.get(to, *where);
  return status::ok;
}

status window::update(const local_data& operand, const local_data* before, const place& to,
                      const change& how, pending_ptr& left) {
  HEADWAY_DEBUG_ASSERT(before || how.what != collectives::operation::no_op);
  const member& m = at(to.rank);
  const auto* const with = how.what == collectives::operation::no_op ? nullptr : &operand;
  const bool is_element =
      is_one(&to, how.kind) && is_one(before, how.kind) && is_one(with, how.kind);
  if (auto* const there = is_element ? mapped_row(to) : nullptr) [[likely]] {  // most atomics
    count(m, before ? &statistics::row::fetches : &statistics::row::accumulates, to);
    return change_element({*m.line, me_}, there, *to.type, how, with ? with->block() : nullptr,
                          before ? before->block() : nullptr);
  }
  if (to.count * to.type->size() == 0) return status::ok;
  const auto where = locate(to);
  if (!where) return status::out_of_range;
  count(m, before ? &statistics::row::fetches : &statistics::row::accumulates, to);
  if (m.by != way::wire) return change_elements(near(m), &operand, before, *where, how);
  if (before != nullptr) {
    left = wire_.fetch(operand, *before, *where, how);
  } else {
    left = wire_.accumulate(operand, *where, how);
  }
  return status::ok;
}

status window::compare_and_swap(const std::byte* value, const std::byte* expected,
                                std::byte* before, const place& to) {
  HEADWAY_DEBUG_ASSERT(to.count == 1 && to.type->kind() != datatypes::number::none);
  const member& m = at(to.rank);
  if (auto* const there = mapped_row(to)) [[likely]] {
    count(m, &statistics::row::fetches, to);
    return swap_element({*m.line, me_}, there, static_cast<std::size_t>(to.type->size()), value,
                        expected, before);
  }
  const auto where = locate(to);
  if (!where) return status::out_of_range;
  count(m, &statistics::row::fetches, to);
  if (m.by != way::wire) {
    return windows::compare_and_swap(near(m), value, expected, before, *where);
  }
  static_cast<void>(wire_.compare_and_swap(value, expected, before, *where));
  return status::ok;
}

void window::synchronise_memory() noexcept {
  // Its partner is the same call, a flush or a barrier in another process that maps the memory.
  publish_memory();
  base::store_load_fence();
  take_in_memory();
}

void window::publish_memory() noexcept { exposed_memory::exposures.leaves(); }

void window::take_in_memory() noexcept { exposed_memory::changes.returns(); }

/// Loads and stores do not show the end of a process.
status window::near_status() const noexcept {
  return served_.has_lost() ? status::lost : status::ok;
}

status window::finish_puts(int rank) noexcept {
  slot_way* const slots = slots_to(at(rank));
  return slots != nullptr ? slots->finish_puts() : status::ok;
}

status window::finish_puts() noexcept {
  status worst = status::ok;
  if (gathering_.load(std::memory_order_relaxed) == 0) return worst;
  for (int rank = 0; rank < size(); ++rank) worst = std::max(worst, finish_puts(rank));
  return worst;
}

status window::flush_local(int rank) {
  if (at(rank).by != way::wire) return status::ok;
  return wire_.flush_local(rank);
}

status window::complete(int rank) {
  publish_memory();
  if (at(rank).by != way::wire) return std::max(finish_puts(rank), near_status());
  return wire_.flush(rank);
}

status window::end_accesses(const std::vector<int>& ranks) {
  publish_memory();
  status worst = std::max(finish_puts(), near_status());
  std::vector<pending_list> left;
  for (const int rank : ranks) {
    if (dynamic_) worst = std::max(worst, wire_.flush(rank));  // only the target knows its memory
    left.push_back(wire_.start_end(rank));
  }
  for (std::size_t i = 0; i < ranks.size(); ++i)
    worst = std::max(worst, wire_.await(ranks[i], left[i]));
  return worst;
}

status window::flush(int rank) {
  synchronise_memory();
  return complete(rank);
}

template <class Each>
status window::over_wire(Each each) {
  status worst = status::ok;
  for (const int rank : wire_.used()) worst = std::max(worst, each(rank));
  return worst;
}

status window::flush_local_all() {
  return over_wire([this](int rank) { return wire_.flush_local(rank); });
}

status window::complete_all() {
  publish_memory();
  const auto near = std::max(finish_puts(), near_status());
  return std::max(near, over_wire([this](int rank) { return complete(rank); }));
}

status window::flush_all() {
  synchronise_memory();
  return complete_all();
}

status window::settle() {
  synchronise_memory();
  return std::max(finish_puts(), over_wire([this](int rank) { return wire_.settle(rank); }));
}

status window::lock(int rank, lock_type how) {
  const auto taken = take_lock(rank, how);
  exposed_memory::changes.returns();
  return taken;
}

status window::take_lock(int rank, lock_type how) {
  const member& m = at(rank);
  control_line* const line = m.line;
  // What no load or store of this process reaches need not be locked before the first operation.
  if (!line && !m.mapped && rank != self_) return wire_.lock_with_operations(rank, how);
  if (line != nullptr) {
    if (line->lock.try_lock(how)) return status::ok;
    const auto lost = [this] { return served_.has_lost(); };
    const bool taken = oversubscribed_
                           ? line->lock.wait_yielding(how, engine_.chosen().yield_ns, lost)
                           : line->lock.wait_turn(how, lost);
    if (taken) return status::ok;
  }
  return wire_.lock(rank, how);
}

status window::unlock(int rank, lock_type how) {
  control_line* const line = at(rank).line;
  if (line == nullptr) return wire_.unlock(rank, how);
  const auto completed = complete(rank);  // the release of the lock orders what was stored
  if (line->lock.unlock(how)) [[unlikely]]
    wire_.report_release(rank);
  return completed;
}

}  // namespace headway::windows
