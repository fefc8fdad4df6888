#pragma once

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "common.hpp"

namespace oracle {

enum send_mode { standard, synchronous, buffered_by_copy, persistent, mode_count };

struct message {
  int id, from, from_thread, to, to_thread, tag;
  way how;
  send_mode mode;
  std::size_t bytes;
  int number;  ///< among those of the same sender, receiver, tag and communicator
};

/// The messages of a round, the same on all ranks.
[[nodiscard]] std::vector<message> make_plan(const settings& s);
/// The memory that a rank's buffered sends of a round need at most.
[[nodiscard]] std::size_t buffered_bytes(const settings& s, const std::vector<message>& plan);

/// Sends and receives the messages of one thread. A message contains its sender and its number;
/// receives are checked in the order of posting, in which those numbers rise by one (MPI-5.0, 3.5).
class point_to_point {
 public:
  point_to_point(const settings& s, int thread, const std::vector<communicators>& comms);

  void begin(const std::vector<message>& plan);
  /// Does a bit of what is left; waits only if all that it sends has been started. False: all is
  /// received.
  [[nodiscard]] bool step();
  /// Nothing is under way any more. The number of messages that were received.
  long finish();

 private:
  using room = std::unique_ptr<std::vector<unsigned char>>;
  struct posted_receive {
    MPI_Request request;
    room memory;
    way how;
  };
  struct started_send {
    MPI_Request request;
    std::vector<unsigned char> bytes;
    bool persistent;
  };

  void start_send();
  void post();
  [[nodiscard]] bool earlier_pending(way how) const;
  void check_oldest();

  const settings& settings_;
  const std::vector<message>* plan_ = nullptr;
  const int thread_;
  const std::vector<communicators>& comms_;
  std::mt19937 random_;
  std::deque<const message*> outgoing_;
  std::vector<const message*> wanted_;
  std::deque<started_send> sends_;
  std::deque<posted_receive> posted_;
  std::vector<room> rooms_;  // free ones
  std::map<std::tuple<int, int, int, int>, int> seen_;
  long received_ = 0;
};

}  // namespace oracle
