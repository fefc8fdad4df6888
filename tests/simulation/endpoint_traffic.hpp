#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "endpoints/delivery/message.hpp"
#include "endpoints/names/names.hpp"
#include "endpoints/service.hpp"
#include "tests/simulation/dice.hpp"
#include "tests/simulation/process.hpp"
#include "tests/simulation/workload.hpp"

namespace headway::simulation {

constexpr std::uint32_t points_each = 2;  ///< end-points of a process

/// A message from an end-point to another, known to both processes before it is sent.
struct planned_letter {
  std::uint32_t from = 0, to = 0;  ///< processes
  std::uint32_t from_point = 0, to_point = 0;
  std::int32_t tag = 0;
  std::uint32_t number = 0;  ///< among those that have to arrive in order
  std::size_t bytes = 0;
  bool keep = false;  ///< the buffer stays the sender's
};

/// All messages between end-points of a run, from a seed; and the state of all processes, which a
/// simulation knows because they are in one.
struct endpoint_plan {
  endpoint_plan(std::uint32_t processes, std::uint32_t messages, std::size_t bytes_max,
                std::uint64_t seed);
  /// Messages with equal keys must arrive in order: at an end-point 0, those of a process; at
  /// another, those of a process with a tag.
  struct line {
    std::uint32_t from, to, to_point;
    std::int32_t tag;
    auto operator<=>(const line&) const = default;
  };
  [[nodiscard]] static line line_of(const planned_letter& l) {
    return {l.from, l.to, l.to_point, l.to_point == 0 ? 0 : l.tag};
  }
  std::vector<std::vector<planned_letter>> sends;  ///< by sender, in order
  std::map<line, std::vector<const planned_letter*>> lines;
  std::vector<std::array<std::uint32_t, points_each>> ids;  ///< of the end-points, by process
  std::map<const std::byte*, const std::byte*> held;        ///< buffers of programs: begin, end
  /// Messages of a process that are sent to an end-point of another and not received: by both, and
  /// the end-point's number.
  std::map<std::array<std::uint32_t, 3>, int> ahead;
  std::vector<bool> dead;
};

/// One process's part of the messages between end-points.
///
/// Invariants that it checks: each message arrives once, whole, in order; a send fails only when
/// its receiver has died; no buffer has two owners, and only its holder's program writes it; no
/// sender is ahead of an end-point by more than its window; buffers take no more memory than they
/// may; a name is found unless its owner has died, and is that of the right end-point.
class endpoint_traffic final : public workload {
 public:
  /// `names`: end-points have names, and are looked up before the first message to them.
  endpoint_traffic(process& on, endpoint_plan& all, std::uint64_t seed, bool names);
  ~endpoint_traffic() override;

  void check(bool advanced) override;
  void start_some() override;
  [[nodiscard]] bool may_start() const override;
  [[nodiscard]] bool done() const override;
  void process_died(std::uint32_t which) override;
  void hoard(bool takes) override;
  void close() override;
  [[nodiscard]] std::string state() const override;

 private:
  static constexpr std::size_t held_max = 4;  // messages that are read and not released
  struct held_buffer {
    std::byte* data;
    std::size_t bytes;  // of the message
    const planned_letter* what;
  };

  [[nodiscard]] bool has_to_send() const { return next_ < plan_.sends[on_.self()].size(); }
  /// False: not possible now.
  [[nodiscard]] bool send_next();
  [[nodiscard]] bool knows(const planned_letter& what);
  void check_names();
  [[nodiscard]] bool receive_one();
  [[nodiscard]] bool receive(std::uint32_t point, std::int32_t tag);
  void arrived(std::uint32_t point, const endpoints::message& got);
  void look_at_kept();
  void own(std::byte* data);
  void disown(std::byte* data);
  void release(const held_buffer& one);
  void expect_contents(const held_buffer& one, const char* when);
  void complain_of(const planned_letter& what, const std::string& why);

  process& on_;
  endpoint_plan& plan_;
  endpoints::service& service_;
  dice dice_;
  std::size_t next_ = 0;
  std::byte* waiting_ = nullptr;  // the buffer of the next message
  bool unread_ = false;           // more messages may have arrived
  bool blocked_ = false;          // the next send waits for other processes
  const bool names_;
  std::array<endpoints::question, points_each> claims_;
  struct lookup {
    endpoints::question q;
    bool over = false;  // found, or its owner has died
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<lookup>> lookups_;
  std::deque<held_buffer> kept_, read_;
  std::vector<std::byte*> hoard_;  // buffers that are used for nothing
  std::map<endpoint_plan::line, std::uint32_t> came_;
  std::size_t missing_ = 0;  // messages that have to come from processes that live
};

}  // namespace headway::simulation
