#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/pmi1/line_buffer.hpp"
#include "launch/pmi1/pmi_line.hpp"
#include "launch/spawn_request.hpp"

namespace headway::mpiexec {

/// What the server needs of the code that moves its bytes and owns the processes.
class pmi_host {
 public:
  virtual void reply(int rank, std::shared_ptr<const std::string> bytes) = 0;
  /// `rank` has called abort: the job must end with this code.
  virtual void abort_wanted(int rank, int exit_code, std::string why) = 0;
  /// `rank` broke the protocol; nothing more is read from it.
  virtual void protocol_broken(int rank, std::string what) = 0;
  /// A rank wants another job: the process of its mpiexec.
  [[nodiscard]] virtual base::result<pid_t> spawn_wanted(const launch::spawn_request& what) = 0;

 protected:
  ~pmi_host() = default;
};

/// The facts about the job that all ranks get.
struct job_facts {
  int size = 1;
  std::string name;                  ///< kvsname
  std::string secret;                ///< hexadecimal; for Headway's library only
  std::vector<int> program_of_rank;  ///< MPI_APPNUM
};

/// The PMI-1 server of one job: a state per rank, the key-value space, barriers, published names.
/// Shape:    does no input or output; at most `store_bytes_max` of keys and values.
/// Threads:  one.
/// Progress: never waits; a barrier is answered when the last running rank has entered it.
/// Errors:   a broken protocol is reported to the host; a request that fails gets rc=-1 or rc=1.
/// Source:   the PMI-1 wire protocol of MPICH. Fuzzed by tests/fuzz/pmi_server_fuzz.cpp.
class pmi_server {
 public:
  static constexpr std::size_t store_bytes_max = std::size_t{256} << 20;
  static constexpr std::size_t line_bytes_max = launch::spawn_request::packed_bytes_max + 1000;
  static constexpr std::size_t value_bytes_max = 1024;

  pmi_server(pmi_host& host, job_facts facts);

  /// Bytes that `rank` sent; commands may be divided anywhere.
  void receive(int rank, std::string_view bytes);
  /// The process of `rank` has ended. Barriers do not wait for it any more.
  void rank_ended(int rank);
  /// Whether it has called init and not yet finalize.
  [[nodiscard]] bool inside(int rank) const { return at(rank).inside; }
  /// Whether it has called init.
  [[nodiscard]] bool joined(int rank) const { return at(rank).joined; }

 private:
  struct spawn_state {
    bool inside = false;  ///< between mcmd=spawn and endcmd
    std::int64_t block = 1, blocks = 1;
  };
  struct rank_state {
    launch::line_buffer received{line_bytes_max};
    bool inside = false, joined = false, ended = false, broken = false;
    bool at_barrier = false;
    spawn_state spawn;
  };

  rank_state& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const rank_state& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  void answer(int rank, std::string line);
  void give_up_on(int rank, std::string what);
  void take_line(int rank, std::string_view text);
  void take_spawn_line(int rank, std::string_view text);
  bool take_session_command(int rank, const launch::pmi_line& line);
  bool take_store_command(int rank, const launch::pmi_line& line);
  void init(int rank, const launch::pmi_line& line);
  void put(int rank, const launch::pmi_line& line);
  void get(int rank, const launch::pmi_line& line);
  void name_command(int rank, const launch::pmi_line& line);
  void abort(int rank, const launch::pmi_line& line);
  void spawn(int rank, const launch::pmi_line& line);
  void arrive_at_barrier(int rank);
  void release_if_all_came();
  [[nodiscard]] std::string missing_ranks() const;

  pmi_host& host_;
  job_facts facts_;
  std::vector<rank_state> ranks_;
  int waiting_ranks_ = 0;
  int living_ranks_;
  std::map<std::string, std::string, std::less<>> store_, names_;
  std::size_t store_bytes_ = 0;
};

}  // namespace headway::mpiexec
