#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "messages/exchange.hpp"
#include "tests/simulation/dice.hpp"
#include "tests/simulation/process.hpp"
#include "tests/simulation/workload.hpp"

namespace headway::simulation {

/// A message of the traffic, known to both ends before it is sent.
struct planned {
  std::uint32_t from = 0, to = 0;
  std::int32_t tag = 0;
  std::uint32_t number = 0;  ///< among those of the same pair, tag and space
  std::size_t bytes = 0;
  bool any_source = false;  ///< its receive has any source, in a separate matching space
  bool synchronous = false;
  // Known because both ends are in one process:
  bool left = false;  ///< the send is complete
  bool came = false;  ///< the receive is complete
};

/// All messages of a run, by a seed.
/// Shape:    `of[from]` in the order of sending.
struct plan {
  plan(std::uint32_t processes, std::uint32_t messages, std::size_t bytes_max, std::uint64_t seed);
  using list = std::vector<planned*>;
  std::size_t wild_bytes;                   ///< of the largest message of any source
  std::vector<std::vector<planned>> sends;  ///< by sender
  std::vector<list> receives;               ///< by receiver, in an order that cannot deadlock
  std::vector<list> wild_receives;          ///< those of any source, by receiver
  /// Bytes of messages that have left one process and have not come to another: by both.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> stored;
};

/// One process's part of the traffic: starts the plan's sends and receives, some at a time, in
/// random order, and checks what arrives.
///
/// Invariants that it checks: each message arrives once, whole, as it was sent, in its order; a
/// request that fails has a lost process at its other end; short messages that have left and that
/// no receive has taken are no more than the credit of their sender.
class traffic final : public workload {
 public:
  traffic(process& on, plan& all, std::uint64_t seed);
  ~traffic() override;

  void check(bool advanced) override;
  void start_some() override;
  [[nodiscard]] bool may_start() const override;
  [[nodiscard]] bool done() const override;
  /// After a death, receives of any source end with an error as MPI requires; their senders may
  /// then wait for ever and numbers may be missing. They are no longer waited for.
  void process_died(std::uint32_t) override { died_ = true; }
  void close() override;
  [[nodiscard]] std::string state() const override;

 private:
  static constexpr std::size_t under_way_max = 8;  // of each kind
  struct transfer;

  void start_send(planned& what);
  void start_receive(planned& what);
  [[nodiscard]] bool may_send() const noexcept;
  [[nodiscard]] bool may_receive() const noexcept;
  [[nodiscard]] bool may_take_any() const noexcept;
  void look(std::deque<std::unique_ptr<transfer>>& list);
  void check(transfer& t);
  /// Counts a message that is stored at its receiver or on the way there, or no longer.
  void note_stored(planned& what, bool received);
  void complain_of(const planned& what, const std::string& why);

  process& on_;
  plan& plan_;
  dice dice_;
  messages::context* exact_;  ///< receives name source and tag
  messages::context* wild_;   ///< receives take any source
  std::size_t next_send_ = 0, next_receive_ = 0, next_wild_ = 0;
  std::deque<std::unique_ptr<transfer>> sends_, receives_, wild_receives_;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::uint32_t> wild_numbers_;
  bool died_ = false;
};

}  // namespace headway::simulation
