#include "windows/slot_service.hpp"

#include <utility>

#include "base/copy_small.hpp"
#include "base/lock_guard.hpp"
#include "progress/core/engine.hpp"
#include "windows/update.hpp"

namespace headway::windows {
slot_service::slot_service(request_slots& slots, exposed_memory& memory, control_line& line,
                           lock_holder me) noexcept
    : ltask("window slots",
            [](ltask& self) noexcept {
              return static_cast<slot_service&>(self).serve() ? progress::ltask_result::advanced
                                                              : progress::ltask_result::idle;
            }),
      slots_(slots),
      memory_(memory),
      line_(line),
      me_(me) {}

void slot_service::start(progress::engine& engine) noexcept {
  engine_ = &engine;
  engine.submit(*this);
}

void slot_service::stop() noexcept {
  if (auto* const engine = std::exchange(engine_, nullptr))
    static_cast<void>(engine->cancel(*this));
}

bool slot_service::serve() noexcept {
  bool any = false;
  for (auto& slot : slots_)
    if (slot.turn.is_asked()) [[unlikely]]
      any |= serve(slot);
  return any;
}

bool slot_service::serve(request_slot& slot) noexcept {
  if (!slot.turn.begin()) return false;
  slot.carried_out = true;
  carry_out(slot);
  slot.turn.finish();
  return true;
}

/// Its data is what is put, or was got; or an operand, and behind it what was there; or an expected
/// value, the new one, and what was there. What was there begins at a multiple of 16.
void slot_service::carry_out(request_slot& slot) noexcept {
  const auto& one = datatypes::layout::of(slot.kind);
  const auto bytes = static_cast<std::size_t>(slot.count * one.size());
  std::byte* const there = memory_.at(slot.offset, static_cast<std::int64_t>(bytes));
  slot.how = there != nullptr && bytes <= slot.data.size() ? status::ok : status::out_of_range;
  if (slot.how != status::ok) return;
  std::byte* const data = slot.data.data();
  if (slot.what == action::put) return base::copy_small(there, data, bytes);
  if (slot.what == action::get) return base::copy_small(data, there, bytes);
  if (!line_.changing.try_lock(me_)) {
    slot.carried_out = false;
    return;
  }
  const base::lock_guard held(line_.changing, std::adopt_lock);
  if (slot.what == action::compare_and_swap) {
    return compare_and_swap(there, bytes, data, data + bytes, data + padded(2 * bytes));
  }
  const auto how = update::of({slot.op, slot.kind});
  if (!how) return;  // the origin has checked it
  const bool fetches = slot.what == action::fetch;
  how->apply(there, slot.count, data, fetches ? data + padded(bytes) : nullptr);
}

}  // namespace headway::windows
