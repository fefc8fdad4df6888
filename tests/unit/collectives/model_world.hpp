#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "collectives/schedule.hpp"
#include "collectives/team.hpp"

namespace headway::collectives::test {

/// All ranks of a communicator in one thread: messages between them arrive in an order that the
/// seed decides, within what matching allows.
/// Shape:    a send is eager or waits for its receive, by the dice.
class model_world {
 public:
  model_world(int ranks, std::uint64_t seed);
  ~model_world();

  [[nodiscard]] int size() const noexcept;
  [[nodiscard]] team& ranks(int rank);
  /// Lets things happen until nothing is left to happen, or `limit` have.
  void settle(int limit = 1 << 30);
  /// Kills a rank: its messages are lost, those with it end as `peer_lost`, its turns never come.
  void kill(int rank);
  /// Nobody can touch that rank's memory any more.
  void shield(int rank);
  /// Schedules begun and not ended, over all ranks that live.
  [[nodiscard]] int pending() const;
  [[nodiscard]] std::int64_t messages_sent() const noexcept { return sent_; }
  /// Rounds of the whole world in which every rank that could move did so once.
  void everyone(const std::function<void(int rank, team& t)>& act);

 private:
  struct node;
  struct posting {
    messages::request* request;
    std::vector<std::byte> eager;
    std::span<const std::byte> data;
    std::span<std::byte> room;
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
  void receive(int destination, messages::request& r, std::span<std::byte> room, int source,
               int tag);
  void deliver(const key& where);
  void finish(messages::request& r, messages::outcome how, int source, std::size_t bytes);
  [[nodiscard]] bool dead(int rank) const;

  std::mt19937_64 dice_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::map<key, line> lines_;
  std::vector<std::function<void()>> events_;
  std::int64_t sent_ = 0;
  int shielded_ = -1;
};

}  // namespace headway::collectives::test
