#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "collectives/node_levels.hpp"
#include "collectives/shared_banks.hpp"
#include "collectives/team.hpp"

namespace headway::collectives::test {

/// All ranks of a communicator in one thread: messages between them arrive in an order that the
/// seed decides, within what matching allows.
///
/// The ranks also have banks of shared memory (shared_banks.hpp), small ones for every other seed:
/// all ranks together, or those of each node.
///
/// Beside the simulation (docs/simulation.md), where collectives run over the whole stack:
/// here a rank can die after each single event, orders occur that no network has, ranks read each
/// other's memory, and thousands of cases take a second.
/// Shape:    the seed also decides for each send whether it is eager or waits for its receive.
class model_world {
 public:
  /// `node_of_rank[i]`: the node of rank i; empty: all ranks are on one.
  model_world(int ranks, std::uint64_t seed, const std::vector<int>& node_of_rank = {});
  ~model_world();

  [[nodiscard]] int size() const noexcept;
  [[nodiscard]] team& ranks(int rank);
  /// Runs events until none is left, or `limit` have run.
  void settle(int limit = 1 << 30);
  /// Kills a rank: its messages are lost, those with it end as `peer_lost`, its schedules stop.
  void kill(int rank);
  /// Makes that rank's memory inaccessible for the other ranks.
  void shield(int rank);
  /// Schedules started and not ended, on all ranks that have not died.
  [[nodiscard]] int pending() const;
  [[nodiscard]] std::int64_t messages_sent() const noexcept { return sent_; }
  /// How often a rank has woken another one for something that cannot wait.
  [[nodiscard]] int urgent_wakes(int rank) const;
  /// How many operations of a rank rely on background threads.
  [[nodiscard]] int relying(int rank) const;
  /// Banks of a rank for its `number`-th persistent operation.
  /// The ranks also have a ring for these, for two seeds of three.
  [[nodiscard]] std::unique_ptr<shared_banks> own_banks(int rank, int number);
  static constexpr int own_banks_max = 30;
  /// Of a world of two ranks.
  [[nodiscard]] passed_areas& areas(int rank);
  /// The area in the memory of a rank.
  [[nodiscard]] std::byte* area_of(int rank) const;
  /// Calls `act` for each rank, in order.
  void everyone(const std::function<void(int rank, team& t)>& act);

 private:
  struct process;
  struct posting {
    messages::request* request;
    std::vector<std::byte> eager;
    std::span<const std::byte> data;
    std::span<std::byte> buffer;
  };
  struct line {  // one direction of a pair of ranks, one tag
    std::deque<posting> sends, receives;
  };
  struct key {
    int source, destination, tag;
    auto operator<=>(const key&) const = default;
  };
  void send(int source, messages::request& r, std::span<const std::byte> data, int destination,
            int tag);
  void receive(int destination, messages::request& r, std::span<std::byte> buffer, int source,
               int tag);
  void deliver(const key& where);
  void poll(process& of, shared_banks& banks);
  [[nodiscard]] bool poll_idle();
  void finish(messages::request& r, messages::outcome how, int source, std::size_t bytes);
  [[nodiscard]] bool dead(int rank) const;

  std::mt19937_64 dice_;
  std::vector<std::unique_ptr<process>> processes_;
  std::map<key, line> lines_;
  std::vector<std::function<void()>> events_;
  std::vector<std::pair<process*, shared_banks*>> idle_;  // banks that wait for something
  std::int64_t sent_ = 0;
  int shielded_ = -1;
};

}  // namespace headway::collectives::test
