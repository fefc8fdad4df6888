#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rails/tcp/link.hpp"

namespace headway::rails::tcp {

/// Reads the connections. Chooses which, in which order, and how long to wait for what follows.
/// Threads:  the reaper.
/// Progress: one read moves at most `budget_bytes`; `linger` waits some microseconds.
class link_reader {
 public:
  static constexpr std::size_t budget_bytes = 2 * 1024 * 1024;

  /// The results of a read.
  class listener {
   public:
    /// Nothing more comes on it, for the reason `how`.
    virtual void ended(std::uint32_t peer, input::state how) noexcept = 0;
    /// The peer requests this process's memory.
    virtual void asked(std::uint32_t peer) noexcept = 0;

   protected:
    ~listener() = default;
  };

  link_reader(link_table& links, listener& told, int low_water_bytes) noexcept
      : links_(&links), told_(&told), low_water_bytes_max_(low_water_bytes) {}

  void read(std::uint32_t peer, event_sink& out) noexcept;
  /// Continues reads that stopped early.
  void read_ready(event_sink& out) noexcept;
  [[nodiscard]] bool any_ready() const noexcept { return !ready_.empty(); }
  /// Reads the connections that had data recently.
  void read_recent(event_sink& out) noexcept;
  [[nodiscard]] std::size_t recent() const noexcept { return recent_count_; }
  /// Called when nothing came: waits for what is known to follow, then raises low-water marks.
  void nothing_came(event_sink& out) noexcept;

  /// It had data recently, or is new.
  void touch(std::uint32_t peer) noexcept;
  /// It is closed.
  void forget(std::uint32_t peer) noexcept;

 private:
  static constexpr std::size_t recent_max = 4;

  void linger(event_sink& out) noexcept;
  void lower_low_water(link& l) noexcept;
  void raise_low_water() noexcept;

  link_table* links_;
  listener* told_;
  int low_water_bytes_max_;
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> ready_now_;
  std::array<std::uint32_t, recent_max> recent_{};
  std::size_t recent_count_ = 0;
  bool more_follows_ = false;      // of a large payload that has come in part
  unsigned lingered_in_vain_ = 0;  // times in succession
  unsigned lingers_left_out_ = 0;  // still to skip, because of that
};

}  // namespace headway::rails::tcp
