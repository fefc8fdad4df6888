#include "windows/slot_way.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/copy_small.hpp"
#include "base/lock_guard.hpp"
#include "windows/array_form.hpp"
#include "windows/wire.hpp"

namespace headway::windows {
namespace {

using datatypes::number;

[[nodiscard]] std::size_t bytes_of(const remote_data& what) noexcept {
  return static_cast<std::size_t>(what.bytes());
}

[[nodiscard]] bool fits(const remote_data& what) noexcept {
  return what.is_one_block() && bytes_of(what) <= request_slot::data_bytes;
}

/// Elements in a row at the target, with their operand and what was there in one slot.
[[nodiscard]] bool fits(const remote_data& what, number kind, bool fetches) noexcept {
  const auto& one = datatypes::layout::of(kind);
  if (one.size() != one.extent() || !fits(what)) return false;
  return !fetches || padded(bytes_of(what)) + bytes_of(what) <= request_slot::data_bytes;
}

constexpr auto nothing = [](auto*) {};

}  // namespace

void slot_way::write(request_slot& slot, const request& wanted) noexcept {
  slot.what = wanted.what;
  slot.op = wanted.op;
  slot.kind = wanted.kind;
  slot.offset = wanted.offset;
  slot.count = wanted.count;
}

template <class Fill, class Take>
std::optional<status> slot_way::carry_out(const request& wanted, Fill fill, Take take) noexcept {
  const auto claimed = client_.claim();
  if (claimed.slot == nullptr) return std::nullopt;
  request_slot& slot = *claimed.slot;
  write(slot, wanted);
  fill(slot.data.data());
  slot.turn.ask();
  const auto how = client_.await(slot, claimed.patience_ns);
  if (how == slot_client::outcome::lost) return status::lost;
  std::optional<status> answer;
  if (how == slot_client::outcome::answered && slot.carried_out) {
    answer = slot.how;
    if (slot.how == status::ok) take(static_cast<const std::byte*>(slot.data.data()));
  }
  slot_client::leave(slot);
  client_.learn(how);
  return answer;
}

void slot_way::gather(const local_data& from, const remote_data& to) noexcept {
  const base::lock_guard held(lock_);
  const auto bytes = static_cast<std::uint32_t>(to.bytes());
  std::byte* place = gathered_.add(to.block(), bytes);
  if (place == nullptr) {
    carry_out_gathered();
    place = gathered_.add(to.block(), bytes);
  }
  HEADWAY_DEBUG_ASSERT(place != nullptr);
  if (from.is_one_block()) base::copy_small(place, from.block(), bytes);
  else from.type->pack(from.at, from.count, place);
  if (has_puts_.load(std::memory_order_relaxed)) return;
  has_puts_.store(true, std::memory_order_relaxed);
  gathering_.fetch_add(1, std::memory_order_relaxed);
}

void slot_way::carry_out_gathered() noexcept {
  if (gathered_.empty()) return;
  const auto puts = gathered_.bytes();
  const auto how = carry_out(
      {.what = slot_action::puts, .count = static_cast<std::uint32_t>(puts.size())},
      [&](std::byte* data) { base::copy_small(data, puts.data(), puts.size()); }, nothing);
  worst_ = std::max(worst_, how ? *how : put_alone(puts));
  gathered_.clear();
}

status slot_way::put_alone(std::span<const std::byte> puts) noexcept {
  const auto& to = client_.of();
  bool well = true;
  gathered_puts::for_each_block(puts, [&](std::int64_t offset, std::span<const std::byte> bytes) {
    const auto place =
        rails::direct_place(to.base + static_cast<std::uint64_t>(offset), bytes.size());
    well = well && to.copies.put(to.process, place, bytes, 0) == rails::post::done;
  });
  return well ? status::ok : status::lost;
}

void slot_way::carry_out_puts() noexcept {
  if (!has_puts_.load(std::memory_order_relaxed)) return;
  const base::lock_guard held(lock_);
  carry_out_gathered();
}

status slot_way::finish_puts() noexcept {
  if (!has_puts_.load(std::memory_order_relaxed)) return status::ok;
  const base::lock_guard held(lock_);
  carry_out_gathered();
  if (has_puts_.exchange(false, std::memory_order_relaxed))
    gathering_.fetch_sub(1, std::memory_order_relaxed);
  return std::exchange(worst_, status::ok);
}

std::optional<status> slot_way::put(const local_data& from, const remote_data& to) noexcept {
  const bool fits_slot = fits(to);
  if (fits_slot && bytes_of(to) <= gathered_puts::put_bytes_max) {
    gather(from, to);
    return status::ok;
  }
  carry_out_puts();
  if (!fits_slot) return std::nullopt;
  const request wanted{.what = slot_action::put,
                       .offset = to.block(),
                       .count = static_cast<std::uint32_t>(to.bytes())};
  return carry_out(
      wanted,
      [&](std::byte* data) {
        if (from.is_one_block()) base::copy_small(data, from.block(), wanted.count);
        else from.type->pack(from.at, from.count, data);
      },
      nothing);
}

std::optional<status> slot_way::get(const local_data& to, const remote_data& from) noexcept {
  carry_out_puts();
  if (!fits(from)) return std::nullopt;
  const request wanted{.what = slot_action::get,
                       .offset = from.block(),
                       .count = static_cast<std::uint32_t>(from.bytes())};
  return carry_out(wanted, nothing, [&](const std::byte* data) {
    if (to.is_one_block()) base::copy_small(to.block(), data, wanted.count);
    else to.type->unpack(data, to.at, to.count);
  });
}

std::optional<status> slot_way::change_elements(const local_data* operand, const local_data* before,
                                                const remote_data& where, const change& how) {
  carry_out_puts();
  if (!fits(where, how.kind, before != nullptr)) return std::nullopt;
  const auto bytes = bytes_of(where);
  const request wanted{
      .what = before != nullptr ? slot_action::fetch : slot_action::accumulate,
      .offset = where.block(),
      .count = static_cast<std::uint32_t>(where.bytes() / datatypes::layout::of(how.kind).size()),
      .kind = how.kind,
      .op = how.what};
  return carry_out(
      wanted,
      [&](std::byte* data) {
        if (how.what == collectives::operation::no_op) return;
        array_form values(*operand, how.kind);
        values.read();
        base::copy_small(data, values.data(), bytes);
      },
      [&](const std::byte* data) {
        if (before == nullptr) return;
        array_form was(*before, how.kind);
        base::copy_small(was.data(), data + padded(bytes), bytes);
        was.write();
      });
}

std::optional<status> slot_way::compare_and_swap(const std::byte* value, const std::byte* expected,
                                                 std::byte* before,
                                                 const remote_data& where) noexcept {
  carry_out_puts();
  const auto bytes = bytes_of(where);
  HEADWAY_DEBUG_ASSERT(padded(2 * bytes) + bytes <= request_slot::data_bytes);
  return carry_out(
      {.what = slot_action::compare_and_swap,
       .offset = where.block(),
       .count = 1,
       .kind = where.type->kind()},
      [&](std::byte* data) {
        base::copy_small(data, expected, bytes);
        base::copy_small(data + bytes, value, bytes);
      },
      [&](const std::byte* data) { base::copy_small(before, data + padded(2 * bytes), bytes); });
}

}  // namespace headway::windows
