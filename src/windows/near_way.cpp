#include "windows/near_way.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/assert.hpp"
#include "base/copy_small.hpp"
#include "base/lock_guard.hpp"
#include "windows/array_form.hpp"
#include "windows/element_runs.hpp"
#include "windows/update.hpp"

namespace headway::windows {
namespace {

using datatypes::number;

/// Between two buffers neither of which is one block, so many bytes at a time are packed.
constexpr std::int64_t packed_bytes_max = 32 * 1024;
/// Elements are changed in parts of this size, so that others get their turn in between. Larger
/// where each part costs two system calls, about 4 us.
constexpr std::int64_t changed_bytes_max = 16 * 1024, copied_bytes_max = 64 * 1024;
/// A part of this size is copied to the stack.
constexpr std::size_t stack_bytes_max = 1024;

[[nodiscard]] rails::remote_place place_of(const near_target& at, std::int64_t offset,
                                           std::size_t bytes) noexcept {
  return rails::direct_place(at.base + static_cast<std::uint64_t>(offset), bytes);
}

[[nodiscard]] bool read(const near_target& at, std::int64_t offset,
                        std::span<std::byte> to) noexcept {
  return at.copies->get(at.process, place_of(at, offset, to.size()), to, 0) == rails::post::done;
}

[[nodiscard]] bool write(const near_target& at, std::int64_t offset,
                         std::span<const std::byte> from) noexcept {
  return at.copies->put(at.process, place_of(at, offset, from.size()), from, 0) ==
         rails::post::done;
}

/// Whether the target, if it polls, copies a part of such a block.
[[nodiscard]] bool is_shared(const near_target& at, std::size_t bytes) noexcept {
  return at.slots != nullptr && bytes >= slot_way::shared_copy_min;
}

[[nodiscard]] status status_of(bool well) noexcept { return well ? status::ok : status::lost; }

/// The packed form of a buffer: the buffer itself if it is one block, else a copy.
class packed_form {
 public:
  explicit packed_form(const local_data& of) : of_(of) {
    if (of.is_one_block()) {
      at_ = of.block();
      return;
    }
    copy_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(of.bytes()));
    at_ = copy_.get();
  }
  [[nodiscard]] std::byte* data() const noexcept { return at_; }
  void read() noexcept {
    if (copy_) of_.type->pack(of_.at, of_.count, at_);
  }
  void write() noexcept {
    if (copy_) of_.type->unpack(at_, of_.at, of_.count);
  }

 private:
  const local_data of_;
  std::unique_ptr<std::byte[]> copy_;
  std::byte* at_;
};

/// From one buffer of this process to another; they may overlap only where MPI calls it an error.
void copy(const local_data& from, const local_data& to) noexcept {
  const auto bytes = from.bytes();
  if (from.is_one_block() && to.is_one_block()) {
    base::copy_small(to.block(), from.block(), static_cast<std::size_t>(bytes));
  } else if (from.is_one_block()) {
    to.type->unpack(from.block(), to.at, to.count);
  } else if (to.is_one_block()) {
    from.type->pack(from.at, from.count, to.block());
  } else {
    std::byte some[packed_bytes_max];
    for (std::int64_t begin = 0; begin < bytes; begin += packed_bytes_max) {
      const auto end = std::min(begin + packed_bytes_max, bytes);
      from.type->pack(from.at, from.count, begin, end, some);
      to.type->unpack(some, begin, end, to.at, to.count);
    }
  }
}

[[nodiscard]] local_data mapped_data(const near_target& at, const remote_data& where) noexcept {
  return {at.mapped + where.offset, where.count, where.type};
}

/// Calls `apply(elements, first, count)` for parts of a run. No other process changes elements of
/// the window meanwhile. False: the process has ended, or one that was changing elements there.
template <class Apply>
[[nodiscard]] bool change_run(const near_target& at, const element_run& run, number kind,
                              bool write_back, Apply apply) {
  HEADWAY_DEBUG_ASSERT(at.line != nullptr && (at.mapped != nullptr || at.copies != nullptr));
  const auto& one = datatypes::layout::of(kind);
  const auto bytes_max = at.mapped != nullptr ? changed_bytes_max : copied_bytes_max;
  const auto part_max = std::max<std::int64_t>(bytes_max / one.extent(), 1);
  alignas(16) std::byte few[stack_bytes_max];
  std::unique_ptr<std::byte[]> many;
  // Operators may write the gap behind the last pair, too, which is not copied back.
  const auto most = static_cast<std::size_t>(std::min(part_max, run.count) * one.extent());
  if (at.mapped == nullptr && most > stack_bytes_max)
    many = std::make_unique_for_overwrite<std::byte[]>(most);
  std::byte* const some = many ? many.get() : few;
  for (std::int64_t done = 0; done < run.count; done += part_max) {
    const auto count = std::min(part_max, run.count - done);
    const auto offset = run.offset + done * one.extent();
    if (!at.line->changing.lock(at.me)) return false;
    const base::lock_guard held(at.line->changing, std::adopt_lock);
    if (at.mapped != nullptr) {
      apply(at.mapped + offset, done, count);
      continue;
    }
    const auto bytes = static_cast<std::size_t>((count - 1) * one.extent() + one.true_extent());
    if (!read(at, offset, {some, bytes})) return false;
    apply(some, done, count);
    if (write_back && !write(at, offset, {some, bytes})) return false;
  }
  return true;
}

}  // namespace

status put(const near_target& at, const local_data& from, const remote_data& to) {
  HEADWAY_DEBUG_ASSERT(from.bytes() == to.bytes());
  if (at.mapped != nullptr) {
    copy(from, mapped_data(at, to));
    return status::ok;
  }
  if (at.slots != nullptr)
    if (const auto how = at.slots->put(from, to)) return *how;
  packed_form data(from);
  data.read();
  bool well = true;
  std::byte* next = data.data();
  for_each_run(to, number::byte, [&](const element_run& run) {
    const auto bytes = static_cast<std::size_t>(run.count);
    well =
        well && (is_shared(at, bytes) ? at.slots->copy(slot_action::pull, next, run.offset, bytes)
                                      : write(at, run.offset, {next, bytes}));
    next += bytes;
  });
  return status_of(well);
}

status get(const near_target& at, const local_data& to, const remote_data& from) {
  HEADWAY_DEBUG_ASSERT(from.bytes() == to.bytes());
  if (at.mapped != nullptr) {
    copy(mapped_data(at, from), to);
    return status::ok;
  }
  if (at.slots != nullptr)
    if (const auto how = at.slots->get(to, from)) return *how;
  packed_form data(to);
  bool well = true;
  std::byte* next = data.data();
  for_each_run(from, number::byte, [&](const element_run& run) {
    const auto bytes = static_cast<std::size_t>(run.count);
    well =
        well && (is_shared(at, bytes) ? at.slots->copy(slot_action::push, next, run.offset, bytes)
                                      : read(at, run.offset, {next, bytes}));
    next += bytes;
  });
  if (well) data.write();
  return status_of(well);
}

status change_element(const own_change& by, std::byte* element, const datatypes::layout& type,
                      const change& how, const std::byte* operand, std::byte* before) noexcept {
  if (!by.line.changing.lock(by.me)) [[unlikely]]
    return status::lost;
  const base::lock_guard held(by.line.changing, std::adopt_lock);
  const auto address = reinterpret_cast<std::uintptr_t>(element);
  if ((address & static_cast<std::uintptr_t>(type.alignment() - 1)) != 0) [[unlikely]] {
    if (const auto changes = update::of(how)) changes->apply(element, 1, operand, before);
    return status::ok;
  }
  if (before != nullptr) base::copy_small(before, element, static_cast<std::size_t>(type.size()));
  if (operand == nullptr) return status::ok;
  if (const auto changes = collectives::predefined(how.what, how.kind))
    changes->apply(*changes, operand, element, 1);
  return status::ok;
}

status swap_element(const own_change& by, std::byte* element, std::size_t bytes,
                    const std::byte* value, const std::byte* expected, std::byte* before) noexcept {
  if (!by.line.changing.lock(by.me)) [[unlikely]]
    return status::lost;
  const base::lock_guard held(by.line.changing, std::adopt_lock);
  compare_and_swap(element, bytes, expected, value, before);
  return status::ok;
}

status change_elements(const near_target& at, const local_data* operand, const local_data* before,
                       const remote_data& where, const change& how) {
  const auto changes = update::of(how);
  if (!changes) return status::ok;  // the caller has checked it
  const bool writes = how.what != collectives::operation::no_op;
  HEADWAY_DEBUG_ASSERT(before != nullptr || (operand != nullptr && writes));
  if (at.slots != nullptr)
    if (const auto done = at.slots->change_elements(operand, before, where, how)) return *done;
  std::optional<array_form> values, was;
  if (writes) values.emplace(*operand, how.kind).read();
  if (before != nullptr) was.emplace(*before, how.kind);
  bool well = true;
  std::int64_t position = 0;
  const auto element = [&](const std::optional<array_form>& of, std::int64_t index) {
    return of ? of->data() + index * changes->extent() : nullptr;
  };
  const auto change_here = [&](const element_run& run, std::int64_t from) {
    return change_run(at, run, how.kind, writes,
                      [&](std::byte* elements, std::int64_t first, std::int64_t count) {
                        changes->apply(elements, count, element(values, from + first),
                                       element(was, from + first));
                      });
  };
  if (at.slots != nullptr && values && !was) {
    const auto rest = [&](std::int64_t first, std::int64_t count) {
      return change_here({where.block() + first * changes->extent(), count}, first);
    };
    if (const auto done = at.slots->accumulate_large(values->data(), where, how, rest))
      return *done;
  }
  for_each_run(where, how.kind, [&](const element_run& run) {
    well = well && change_here(run, position);
    position += run.count;
  });
  if (well && was) was->write();
  return status_of(well);
}

status compare_and_swap(const near_target& at, const std::byte* value, const std::byte* expected,
                        std::byte* before, const remote_data& where) {
  if (at.slots != nullptr)
    if (const auto how = at.slots->compare_and_swap(value, expected, before, where)) return *how;
  const auto bytes = static_cast<std::size_t>(where.type->size());
  return status_of(change_run(at, {where.block(), 1}, where.type->kind(), true,
                              [&](std::byte* element, std::int64_t, std::int64_t) {
                                compare_and_swap(element, bytes, expected, value, before);
                              }));
}

}  // namespace headway::windows
