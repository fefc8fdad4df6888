#include "windows/wire_way.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>

#include "base/lock_guard.hpp"
#include "windows/array_form.hpp"
#include "windows/element_runs.hpp"

namespace headway::windows {
namespace {

using datatypes::number;
using piece = pending_operation::piece;

/// Of an answer to a request with several runs, which the target puts together.
constexpr std::int64_t answer_bytes_max = 256 * 1024;
/// Runs of a strided place take at most half of a request, so that much of the payload fits beside
/// them.
constexpr std::size_t runs_share = 2;

/// How much a request of `room` bytes for elements of `place` takes of runs, and of elements in its
/// payload.
struct request_limits {
  std::size_t runs;
  std::int64_t elements;
};
[[nodiscard]] request_limits limits_of(const remote_data& place, std::size_t room,
                                       std::int64_t extent) noexcept {
  const auto fitting = [&](std::size_t runs) {
    const auto payload = room - runs * sizeof(element_run) - sizeof(request_head);
    return static_cast<std::int64_t>(payload) / extent;
  };
  if (!place.is_one_block()) {
    const auto runs = room / runs_share / sizeof(element_run);
    return {runs, fitting(runs)};
  }
  // As few requests as possible, of equal length: the target serves one while the next one comes.
  const auto elements = std::max<std::int64_t>(place.bytes() / extent, 1);
  const auto requests = (elements - 1) / fitting(1) + 1;
  return {1, (elements - 1) / requests + 1};
}

/// For `channel::begin`, of an operation with so many bytes of payload.
[[nodiscard]] std::size_t request_bytes_of(const channel& way, const remote_data& place,
                                           std::size_t payload) noexcept {
  const bool is_one =
      place.is_one_block() && payload + sizeof(request_head) <= way.room() / runs_share;
  return is_one ? channel::request_bytes(1, payload) : channel::any_bytes;
}

/// A piece's bytes came whole; else they were outside of the window.
[[nodiscard]] bool came_whole(piece& self) noexcept {
  const bool whole = self.wire.arrived.bytes == self.bytes;
  if (!whole) self.how = status::out_of_range;
  return whole && self.wire.arrived.how == messages::outcome::ok;
}

/// A get, whose answers are unpacked into the buffer if it is not one block.
struct get_operation final : pending_operation {
  explicit get_operation(const local_data& into) noexcept : to(into), kept(into.type) {}

  static void arrived(piece& self) noexcept {
    auto& whole = static_cast<get_operation&>(self.of);
    if (!came_whole(self) || !self.memory) return;
    const auto begin = self.first;
    whole.to.type->unpack(self.memory.get(), begin, begin + static_cast<std::int64_t>(self.bytes),
                          whole.to.at, whole.to.count);
  }

  const local_data to;
  const datatypes::layout_ptr kept;
};

/// A fetch: answers come in array form.
struct fetch_operation final : pending_operation {
  fetch_operation(const local_data& into, number of) : before(into, of), kept(into.type) {}

  static void arrived(piece& self) noexcept {
    auto& whole = static_cast<fetch_operation&>(self.of);
    if (came_whole(self)) whole.before.write(self.first, self.elements);
  }

  array_form before;
  const datatypes::layout_ptr kept;
};

}  // namespace

channel& wire_way::channel_to(int target) {
  const base::lock_guard held(lock_);
  auto& known = channels_[target];
  if (!known) known = std::make_unique<channel>(exchange_, context_, target);
  return *known;
}

channel* wire_way::find(int target) const {
  const base::lock_guard held(lock_);
  const auto known = channels_.find(target);
  return known == channels_.end() ? nullptr : known->second.get();
}

std::vector<int> wire_way::used() const {
  const base::lock_guard held(lock_);
  std::vector<int> all;
  for (const auto& [target, unused] : channels_) all.push_back(target);
  return all;
}

// ---- operations ---------------------------------------------------------------------------------

/// Appends requests for all elements of `place`, with their payload: `write(first, count, to)`
/// writes the elements from the `first` on.
template <class Write>
void wire_way::send_elements(channel& to, const remote_data& place, request_head head,
                             std::int64_t extent, Write write) HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
  const auto [runs_max, elements_max] = limits_of(place, to.room(), extent);
  run_cutter cutter(runs_max, elements_max, extent,
                    [&](std::span<const element_run> runs, std::int64_t first, std::int64_t count)
                        HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
                          head.payload_bytes = static_cast<std::uint32_t>(count * extent);
                          write(first, count, to.append(head, runs));
                        });
  for_each_run(place, head.kind, [&](const element_run& run) { cutter.add(run); });
  cutter.finish();
}

pending_ptr wire_way::put(const local_data& from, const remote_data& to) {
  channel& way = channel_to(to.rank);
  const auto bytes = from.bytes();
  way.begin(request_bytes_of(way, to, static_cast<std::size_t>(bytes)));
  const base::lock_guard held(way.lock, std::adopt_lock);
  if (static_cast<std::size_t>(bytes) <= way.room() / runs_share || !to.is_one_block()) {
    send_elements(way, to, {.what = action::put}, 1,
                  [&](std::int64_t first, std::int64_t count, std::byte* at) {
                    from.type->pack(from.at, from.count, first, first + count, at);
                  });
    return nullptr;
  }
  auto operation = std::make_shared<pending_operation>();
  auto& data = operation->add();
  const std::byte* at = nullptr;
  if (from.is_one_block()) {
    at = from.block();
  } else {
    data.memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
    from.type->pack(from.at, from.count, data.memory.get());
    at = data.memory.get();
  }
  operation->start();
  const auto tag = way.next_data_tag();
  const element_run run{to.block(), bytes};
  static_cast<void>(way.append({.what = action::put_message, .tag = tag}, {&run, 1}));
  way.send();
  way.keep_large(operation);
  way.send_data(data, {at, static_cast<std::size_t>(bytes)}, tag);
  return operation;
}

pending_ptr wire_way::get(const local_data& to, const remote_data& from) {
  channel& way = channel_to(from.rank);
  auto operation = std::make_shared<get_operation>(to);
  way.begin(request_bytes_of(way, from, 0));
  const base::lock_guard held(way.lock, std::adopt_lock);
  const auto request = [&](std::span<const element_run> runs, std::int64_t first,
                           std::int64_t count) HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
    const auto bytes = static_cast<std::size_t>(count);
    auto& part = operation->add();
    part.on_end = &get_operation::arrived;
    part.first = first;
    std::byte* into = nullptr;
    if (to.is_one_block()) {
      into = to.block() + first;
    } else {
      part.memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
      into = part.memory.get();
    }
    const auto tag = way.expect_answer(part, {into, bytes});
    static_cast<void>(way.append({.what = action::get, .tag = tag}, runs));
  };
  if (from.is_one_block()) {
    const element_run run{from.block(), from.bytes()};
    request({&run, 1}, 0, run.count);
  } else {
    run_cutter cutter(way.room() / sizeof(element_run), answer_bytes_max, 1, request);
    for_each_run(from, number::byte, [&](const element_run& run) { cutter.add(run); });
    cutter.finish();
  }
  operation->start();
  way.keep(operation);
  way.send(operation);
  return operation;
}

pending_ptr wire_way::accumulate(const local_data& operand, const remote_data& to, change how) {
  channel& way = channel_to(to.rank);
  array_form values(operand, how.kind);
  values.read();
  const auto extent = datatypes::layout::of(how.kind).extent();
  way.begin(request_bytes_of(way, to, static_cast<std::size_t>(values.count() * extent)));
  const base::lock_guard held(way.lock, std::adopt_lock);
  send_elements(way, to, {.what = action::accumulate, .op = how.what, .kind = how.kind}, extent,
                [&](std::int64_t first, std::int64_t count, std::byte* at) {
                  std::memcpy(at, values.data() + first * extent,
                              static_cast<std::size_t>(count * extent));
                });
  return nullptr;
}

pending_ptr wire_way::fetch(const local_data& operand, const local_data& before,
                            const remote_data& from, change how) {
  channel& way = channel_to(from.rank);
  const bool changes = how.what != collectives::operation::no_op;
  const auto extent = datatypes::layout::of(how.kind).extent();
  auto operation = std::make_shared<fetch_operation>(before, how.kind);
  array_form values(changes ? operand : local_data{.type = &datatypes::layout::of(how.kind)},
                    how.kind);
  values.read();
  // Of what is fetched: without an operand, too, many elements take several requests.
  const auto fetched = operation->before.count() * extent;
  way.begin(request_bytes_of(way, from, static_cast<std::size_t>(fetched)));
  const base::lock_guard held(way.lock, std::adopt_lock);
  const auto [runs_max, elements_max] = limits_of(from, way.room(), extent);
  run_cutter cutter(
      runs_max, elements_max, extent,
      [&](std::span<const element_run> runs, std::int64_t first, std::int64_t count)
          HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
            const auto bytes = static_cast<std::size_t>(count * extent);
            auto& part = operation->add();
            part.on_end = &fetch_operation::arrived;
            part.first = first;
            part.elements = count;
            const auto tag =
                way.expect_answer(part, {operation->before.data() + first * extent, bytes});
            request_head head{.what = action::fetch, .op = how.what, .kind = how.kind, .tag = tag};
            head.payload_bytes = changes ? static_cast<std::uint32_t>(bytes) : 0;
            std::byte* const payload = way.append(head, runs);
            if (changes) std::memcpy(payload, values.data() + first * extent, bytes);
          });
  for_each_run(from, how.kind, [&](const element_run& run) { cutter.add(run); });
  cutter.finish();
  operation->start();
  way.keep(operation);
  way.send(operation);
  return operation;
}

pending_ptr wire_way::compare_and_swap(const std::byte* value, const std::byte* expected,
                                       std::byte* before, const remote_data& at) {
  channel& way = channel_to(at.rank);
  const auto kind = at.type->kind();
  const auto bytes = static_cast<std::size_t>(at.type->size());
  auto operation = std::make_shared<fetch_operation>(local_data{before, 1, at.type}, kind);
  way.begin(channel::request_bytes(1, 2 * bytes));
  const base::lock_guard held(way.lock, std::adopt_lock);
  auto& answer = operation->add();
  answer.on_end = &fetch_operation::arrived;
  answer.elements = 1;
  const auto tag = way.expect_answer(answer, {operation->before.data(), bytes});
  operation->start();
  const element_run run{at.block(), 1};
  std::byte* const payload = way.append({.what = action::compare_and_swap,
                                         .kind = kind,
                                         .payload_bytes = static_cast<std::uint32_t>(2 * bytes),
                                         .tag = tag},
                                        {&run, 1});
  std::memcpy(payload, expected, bytes);
  std::memcpy(payload + bytes, value, bytes);
  way.keep(operation);
  way.send(operation);
  return operation;
}

// ---- synchronisation ----------------------------------------------------------------------------

pending_list wire_way::start_flush(int target) {
  channel* const way = find(target);
  if (!way) return {};
  way->begin(channel::request_bytes(0, 0));
  const base::lock_guard held(way->lock, std::adopt_lock);
  if (way->is_dirty()) way->synchronise({.what = action::flush});
  return way->under_way();
}

pending_list wire_way::start_lock(int target, lock_type how) {
  channel& way = channel_to(target);
  const base::lock_guard held(way.lock);
  way.synchronise({.what = action::lock, .lock = how});
  return way.under_way();
}

pending_list wire_way::start_unlock(int target, lock_type how) {
  channel& way = channel_to(target);
  way.begin(channel::request_bytes(0, 0));
  const base::lock_guard held(way.lock, std::adopt_lock);
  way.synchronise({.what = action::unlock, .lock = how});
  return way.under_way();
}

pending_list wire_way::start_end(int target) {
  channel& way = channel_to(target);
  const base::lock_guard held(way.lock);
  static_cast<void>(way.append({.what = action::complete}, {}));
  way.send();
  return way.under_way();
}

status wire_way::await(int target, const pending_list& before) {
  channel* const way = find(target);
  return way ? way->await(before) : status::ok;
}

status wire_way::flush_local(int target) {
  channel* const way = find(target);
  if (!way) return status::ok;
  pending_list before;
  {
    const base::lock_guard held(way->lock);
    before = way->under_way();
  }
  return way->await(before);
}

status wire_way::flush(int target) { return await(target, start_flush(target)); }

status wire_way::settle(int target) {
  channel* const way = find(target);
  if (!way) return status::ok;
  {
    way->begin(channel::request_bytes(0, 0));
    const base::lock_guard held(way->lock, std::adopt_lock);
    if (way->has_unanswered() && !way->is_dirty()) way->synchronise({.what = action::flush});
  }
  return flush(target);
}

status wire_way::lock(int target, lock_type how) { return await(target, start_lock(target, how)); }

status wire_way::lock_with_operations(int target, lock_type how) {
  channel& way = channel_to(target);
  {
    way.begin(channel::request_bytes(0, 0));
    const base::lock_guard held(way.lock, std::adopt_lock);
    if (way.defer_lock(how)) return status::ok;
  }
  return lock(target, how);
}

status wire_way::unlock(int target, lock_type how) {
  channel& way = channel_to(target);
  bool overtakes = false;
  {
    const base::lock_guard held(way.lock);
    overtakes = way.has_large();
  }
  const auto flushed = overtakes ? flush(target) : status::ok;
  return std::max(flushed, way.await(start_unlock(target, how)));
}

void wire_way::tell(int target, action what) {
  channel& way = channel_to(target);
  const base::lock_guard held(way.lock);
  static_cast<void>(way.append({.what = what}, {}));
  way.send();
}

}  // namespace headway::windows
