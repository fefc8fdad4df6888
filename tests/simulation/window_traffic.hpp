#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/simulation/dice.hpp"
#include "tests/simulation/episode.hpp"
#include "tests/simulation/process.hpp"
#include "tests/simulation/workload.hpp"
#include "windows/control_line.hpp"
#include "windows/exposed_memory.hpp"
#include "windows/statistics.hpp"
#include "windows/target.hpp"
#include "windows/wire_way.hpp"

namespace headway::simulation {

/// The memory of all windows of a run, and what is known of it because all ranks are in one
/// process: a check needs no message.
struct window_plan {
  window_plan(std::uint32_t processes, std::uint32_t episodes, std::size_t bytes_max);

  static constexpr std::size_t own_words = 700;  ///< of each origin: more than a packet has
  /// The first words of a window. Behind them each origin has `own_words`, and then its block.
  enum word : std::uint8_t { counter, cas_lock, guarded, arrivals, grants, epochs, shared_words };

  /// What an origin last put in its block.
  struct block {
    std::uint32_t version = 0;
    std::size_t bytes = 0;
    bool changes = false;  ///< its put has not been flushed
    int readers = 0;
  };
  /// A window lock that was held: numbers that the target counted before the request came, after
  /// that, and while it was held.
  struct visit {
    bool exclusive = false;
    std::uint64_t before = 0, after = 0, granted = 0;
  };
  struct window {
    std::vector<std::uint64_t> memory;
    windows::control_line line;
    std::uint64_t additions = 0;               ///< to the counter, begun
    std::set<std::uint64_t> taken;             ///< what they have fetched
    std::optional<std::uint32_t> inside;       ///< holder of the compare-and-swap lock
    std::uint64_t increments = 0;              ///< of the guarded word
    std::uint32_t exclusive = 0, sharing = 0;  ///< holders of the window lock
    std::vector<visit> visits;
    std::vector<block> blocks;  ///< by origin
  };

  [[nodiscard]] std::size_t own_word(std::uint32_t origin) const noexcept {
    return shared_words + origin * own_words;
  }
  /// In bytes from the window's base.
  [[nodiscard]] std::size_t block_at(std::uint32_t origin) const noexcept {
    return own_word(processes) * sizeof(std::uint64_t) + origin * block_bytes;
  }

  std::uint32_t processes, episodes;
  std::size_t block_bytes;
  std::vector<std::unique_ptr<window>> windows;
};

/// One process's window, which it serves, and its operations on those of the others, by packets:
/// litmus tests of the orderings that the standard promises.
///
/// Invariants that it checks: an addition to a counter by all fetches each number once; what an
/// origin accumulates to its elements, swaps and fetches there has its effect in the order of its
/// calls; when a flush has ended the target's memory has all of it, and any process that then gets
/// it receives it; a lock made of compare-and-swap and a flush excludes, and what it guards is not
/// lost; an exclusive window lock excludes all others and a shared one exclusive ones, also where
/// another process takes the lock in memory; they are granted in the order of their arrival at the
/// target; an epoch in one message has its effect only while no process has the lock; an operation
/// fails only where a process has died.
class window_traffic final : public workload {
 public:
  window_traffic(process& on, window_plan& all, std::uint64_t seed);
  ~window_traffic() override;

  void check(bool advanced) override;
  void start_some() override;
  [[nodiscard]] bool may_start() const override;
  [[nodiscard]] bool done() const override;
  void process_died(std::uint32_t which) override;
  void close() override;
  [[nodiscard]] std::size_t always_pending() const override { return 1; }  // the target's receive
  [[nodiscard]] std::string state() const override;

 private:
  static constexpr std::size_t under_way_max = 8;
  /// What this process knows of its operations on one target.
  struct origin_state {
    std::vector<std::uint64_t> own;  // its words there, when all operations have had their effect
    std::uint64_t changes = 0;       // of these
    bool locks = false;              // it has the window lock, or waits for it
    bool swaps = false;              // the same of that by compare-and-swap
    bool unflushed = false;          // puts, which an unlock could overtake
  };

  [[nodiscard]] episode start_one();
  // The litmus tests.
  [[nodiscard]] episode count(std::uint32_t target);
  [[nodiscard]] episode change_own(std::uint32_t target);
  [[nodiscard]] episode put(std::uint32_t target);
  [[nodiscard]] episode get(std::uint32_t target, std::uint32_t writer);
  [[nodiscard]] episode enter_by_swap(std::uint32_t target);
  [[nodiscard]] episode enter_by_lock(std::uint32_t target, windows::lock_type how);
  [[nodiscard]] episode visit_in_one_message(std::uint32_t target);

  [[nodiscard]] windows::pending_ptr add(std::uint32_t target, std::size_t word,
                                         std::uint64_t& before);
  [[nodiscard]] windows::pending_list start_flush(std::uint32_t target);
  /// Complains of an operation that has failed for no reason.
  [[nodiscard]] bool failed(windows::status how);
  void enter(std::uint32_t target, windows::lock_type how);
  void leave(std::uint32_t target, windows::lock_type how);
  void look_for_overtaking(std::uint32_t target, const window_plan::visit& last);
  void complain_of(std::uint32_t target, const std::string& why);

  process& on_;
  window_plan& plan_;
  dice dice_;
  messages::context* const context_;
  windows::statistics counts_;
  windows::exposed_memory memory_;
  windows::target target_;
  windows::wire_way wire_;
  std::uint32_t left_;  // episodes to start
  bool lost_ = false;   // a process has died
  std::vector<origin_state> at_;
  std::vector<episode> running_;
};

}  // namespace headway::simulation
