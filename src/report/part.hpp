#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/collective_log.hpp"

namespace headway::report {

/// Non-blocking operations that one call site has started. Times are of the `timed` ones.
struct overlap_sums {
  std::uint64_t operations = 0, timed = 0;
  std::uint64_t bytes = 0;         ///< of the timed ones
  std::uint64_t under_way_ns = 0;  ///< from the start to completion
  std::uint64_t hidden_ns = 0;     ///< of that, before the call that waits for it
  /// Of the calls that wait. Where one waits for several operations, each moment counts once.
  std::uint64_t waited_ns = 0;
  /// Of that, until the first packet of the message came, or its receive was posted. Of sends,
  /// `merge` adds it.
  std::uint64_t for_partner_ns = 0;
  /// At most so much of the rest could have been hidden: both sides were ready while the program
  /// did other things.
  std::uint64_t possible_ns = 0;
  std::uint64_t spare_ns = 0;  ///< from completion to the call that asks for it

  overlap_sums& operator+=(const overlap_sums& more) noexcept;
};

/// The calls of one function from one call site. `timed` of the calls that did not wait were timed;
/// calls that waited are all timed.
struct call_sums {
  std::uint64_t calls = 0;
  std::uint64_t timed = 0, timed_ns = 0, timed_longest_ns = 0;
  std::uint64_t waited = 0, waited_ns = 0;
  std::uint64_t longest_ns = 0;
  std::uint64_t messages = 0, bytes = 0;  ///< sent or received by these calls

  call_sums& operator+=(const call_sums& more) noexcept;
  [[nodiscard]] std::uint64_t known_ns() const noexcept { return timed_ns + waited_ns; }
  /// The time of all calls: those that were not timed count as the mean of those that were, without
  /// the longest of these, which may have been interrupted.
  [[nodiscard]] std::uint64_t total_ns() const noexcept;
};

/// A place in a program from which MPI is called.
struct call_site {
  std::string object = {};   ///< path of the program or library
  std::uint64_t offset = 0;  ///< in it, as addr2line expects
  std::string symbol = {};   ///< the nearest exported one before it; may be empty
  bool operator==(const call_site&) const = default;
};

struct call_row {
  std::string function = {};
  bool counts_waits = true;  ///< false: `sums.waited` is 0 whatever the calls waited for
  call_site from = {};
  call_sums sums = {};
  overlap_sums started = {};
};

/// Messages between this process and one other.
struct peer_row {
  std::uint32_t rank = 0;  ///< in the job
  std::uint64_t sent = 0, bytes_sent = 0, received = 0, bytes_received = 0;
  std::uint64_t late_sender = 0, late_sender_ns = 0;  ///< waits until its first packet came
};

/// The end of a long wait for a large message to leave.
struct send_wait {
  static constexpr std::uint32_t none = UINT32_MAX;

  std::uint32_t to = 0;      ///< rank in the job
  std::uint32_t number = 0;  ///< of the message, as announced
  std::uint64_t sent_ns = 0, wait_began_ns = 0, wait_ended_ns = 0;
  std::uint32_t started_by = none;  ///< index in `part::calls`; none: by a call that is blocking
};

/// A large message that was announced before its receive was posted.
struct late_receive {
  std::uint32_t from = 0;    ///< rank in the job
  std::uint32_t number = 0;  ///< of the message, as announced
  /// 0: not known, because no thread of the receiver looked before the receive was posted.
  std::uint64_t announced_ns = 0;
  std::uint64_t posted_ns = 0;
};

/// Sizes of messages: number and bytes by the power of two.
struct size_counts {
  static constexpr std::size_t classes = 40;  ///< class n: below 2^n bytes, from 2^(n-1) on
  std::array<std::uint64_t, classes> messages{}, bytes{};
  void add(std::uint64_t bytes_of_one, std::uint64_t count = 1) noexcept;
};

struct thread_row {
  std::string name = {};
  std::string processors = {};  ///< those it may run on: "0-3"
};

struct rail_row {
  std::string name = {};    ///< or "several rails" together
  std::uint64_t peers = 0;  ///< ranks that messages were sent to over it
  std::uint64_t messages_sent = 0, bytes_sent = 0;
};

/// A counter of the process at its end, as in its table of statistics: "rail.shm.bytes_out".
struct counter_row {
  std::string name = {};
  std::uint64_t value = 0;
};

/// What one process has recorded.
struct part {
  std::uint32_t rank = 0, size = 1, node = 0, threads_calling = 0;
  std::uint64_t began_ns = 0, ended_ns = 0;
  std::string host = {}, program = {}, processors = {};
  std::uint64_t pid = 0;
  std::vector<thread_row> threads = {};
  std::vector<rail_row> rails = {};
  std::vector<counter_row> counters = {};  ///< with HEADWAY_STATS
  std::vector<call_row> calls = {};
  std::vector<peer_row> peers = {};
  size_counts sizes_sent = {}, sizes_received = {};
  std::vector<send_wait> send_waits = {};
  std::vector<late_receive> late_receives = {};
  std::uint64_t waits_dropped = 0;  ///< of the two lists before, because they were full
  std::vector<collective_log> collectives = {};

  [[nodiscard]] std::vector<std::byte> pack() const;
  /// Nothing: the bytes are no part of this version.
  [[nodiscard]] static std::optional<part> unpack(std::span<const std::byte> bytes);
};

}  // namespace headway::report
