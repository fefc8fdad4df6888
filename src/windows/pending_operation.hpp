#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/assert.hpp"
#include "messages/request.hpp"
#include "progress/completion/completion.hpp"
#include "windows/operation.hpp"

namespace headway::windows {

/// Messages of an origin that end together: an operation whose data is on its way, or a request
/// that a target has not answered.
/// Shape:    kept by a shared pointer until `done`: the origin's channel holds one.
/// Threads:  pieces are added by one thread, before `start`; each is completed by any thread.
class pending_operation {
 public:
  /// One message.
  struct piece {
    explicit piece(pending_operation& whole) noexcept : of(whole) {
      wire.owner = this;
      wire.finish = [](messages::request& r) noexcept {
        auto& self = *static_cast<piece*>(r.owner);
        if (self.on_end) self.on_end(self);
        self.of.end(self.wire.arrived.how == messages::outcome::ok ? self.how : status::lost);
        return false;
      };
    }

    pending_operation& of;
    messages::request wire;
    /// Called when the message has come or gone, whole or not. May set `how`.
    void (*on_end)(piece& self) noexcept = nullptr;
    status how = status::ok;
    std::unique_ptr<std::byte[]> memory;  ///< for its bytes, if they are not elsewhere
    std::size_t bytes = 0;
    // For the operation's use: the position of its first element or byte, and how many follow.
    std::int64_t first = 0;
    std::int64_t elements = 0;
  };

  pending_operation() = default;
  virtual ~pending_operation() = default;
  pending_operation(const pending_operation&) = delete;
  pending_operation& operator=(const pending_operation&) = delete;

  /// A piece that counts from now on, and whose message the caller starts.
  [[nodiscard]] piece& add() {
    HEADWAY_DEBUG_ASSERT(left_.load(std::memory_order_relaxed) > 0);
    left_.fetch_add(1, std::memory_order_relaxed);  // `start` has not been called
    if (!first_) return first_.emplace(*this);
    more_.push_back(std::make_unique<piece>(*this));
    return *more_.back();
  }
  /// All pieces are there.
  void start() noexcept { end(status::ok); }

  /// Once `done`.
  [[nodiscard]] status how() const noexcept {
    HEADWAY_DEBUG_ASSERT(done.test());
    return how_.load(std::memory_order_relaxed);  // ordered by `done`
  }

  /// Once `done`, and while no thread waits: serves another operation of one piece, which is the
  /// first one of this. `start` is to be called again.
  [[nodiscard]] piece& add_again() noexcept {
    HEADWAY_DEBUG_ASSERT(done.test() && first_ && more_.empty());
    done.reset();
    how_.store(status::ok, std::memory_order_relaxed);  // no other thread has it yet
    left_.store(2, std::memory_order_relaxed);
    return *first_;
  }

  progress::shared_completion done;

 private:
  void end(status how) noexcept {
    auto worst = how_.load(std::memory_order_relaxed);  // the decrement below publishes it
    while (worst < how && !how_.compare_exchange_weak(worst, how, std::memory_order_relaxed,
                                                      std::memory_order_relaxed)) {
    }
    // (E) release by every piece, acquire by the last: the thread that waits for `done` sees all
    // data.
    const auto before = left_.fetch_sub(1, std::memory_order_acq_rel);
    HEADWAY_DEBUG_ASSERT(before > 0);
    if (before == 1) done.complete();  // this may be gone
  }

  std::optional<piece> first_;  // most have no other
  std::vector<std::unique_ptr<piece>> more_;
  std::atomic<std::uint32_t> left_{1};
  std::atomic<status> how_{status::ok};
};

using pending_ptr = std::shared_ptr<pending_operation>;
using pending_list = std::vector<pending_ptr>;

}  // namespace headway::windows
