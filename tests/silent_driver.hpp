#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "rails/health.hpp"
#include "rails/memory.hpp"

namespace headway::rails::testing {

/// A rail whose other end is the test itself: it delivers bytes (fuzzing), or decides what the rail
/// answers and reports (scripts, which override a function or two). Exchanges between two ends are
/// tested on the simulation (docs/simulation.md). The address is one byte, every peer is reached,
/// all that is sent is `done` and goes nowhere, there is nothing to release or to sleep on, and
/// exposures are kept in a table. It reports the events that the test puts into `events`.
class silent_driver : public rails::driver, public rails::memory {
 public:
  struct shown {
    std::span<std::byte> bytes;
    std::uint64_t token = 0;
  };

  explicit silent_driver(std::size_t eager_bytes_max = 4096) : eager_(eager_bytes_max) {}

  rails::limits query() const noexcept override {
    return {.name = "silent", .header_bytes_max = 64, .eager_bytes_max = eager_};
  }
  rails::post send(rails::peer_id, const rails::packet&) noexcept override {
    return rails::post::done;
  }
  base::result<std::vector<std::byte>> open() override { return std::vector<std::byte>(1); }
  base::result<> connect(rails::peer_id, std::span<const std::byte>) override { return {}; }
  std::size_t reap(std::span<rails::event> out) noexcept override {
    std::size_t count = 0;
    for (; count < out.size() && !events.empty(); ++count) {
      out[count] = events.front();
      events.pop_front();
    }
    return count;
  }
  void release(const rails::event&) noexcept override {}
  int descriptor() const noexcept override { return -1; }
  bool arm(bool) noexcept override { return true; }
  void tick(std::uint64_t) noexcept override {}
  void close() noexcept override {}

  rails::memory* memory() noexcept override { return this; }
  rails::memory_limits limits_to(rails::peer_id) const noexcept override {
    return {.put = true, .notifies = true};
  }
  base::result<rails::ticket> expose(const rails::exposure& what) noexcept override {
    shown_[++last_id_] = {what.bytes, what.token};
    return rails::ticket{.id = last_id_, .bytes = what.bytes.size()};
  }
  void withdraw(const rails::ticket& exposed) noexcept override { shown_.erase(exposed.id); }
  rails::post put(rails::peer_id, const rails::remote_place&, std::span<const std::byte>,
                  std::uint64_t) noexcept override {
    return rails::post::done;
  }

  std::deque<rails::event> events;

 protected:
  [[nodiscard]] base::result<rails::ticket> refuse_to_expose() const {
    return base::failed(base::fault_kind::no_memory, "no");
  }
  /// Null: withdrawn.
  [[nodiscard]] const shown* exposed_as(std::uint64_t id) const {
    const auto found = shown_.find(id);
    return found == shown_.end() ? nullptr : &found->second;
  }
  std::map<std::uint64_t, shown> shown_;

 private:
  const std::size_t eager_;
  std::uint64_t last_id_ = 0;
};

}  // namespace headway::rails::testing
