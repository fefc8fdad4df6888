#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "endpoints/service.hpp"
#include "launch/job.hpp"
#include "messages/exchange.hpp"
#include "processes/membership.hpp"
#include "processes/table.hpp"
#include "progress/core/engine.hpp"
#include "runtime/settings.hpp"
#include "topology/machine.hpp"

namespace headway::collectives {
struct tuned_shape;
}  // namespace headway::collectives
namespace headway::packets {
class peers;
}  // namespace headway::packets
namespace headway::rails {
class shm_slots;
}  // namespace headway::rails
namespace headway::windows {
struct statistics;
}  // namespace headway::windows
namespace headway::watch {
struct page_image;
}  // namespace headway::watch

namespace headway::runtime {

/// A rail, for `headway info`.
struct rail_entry {
  std::string name;
  std::string address;  ///< as text
  int peers = 0;        ///< processes of the job that are reached over it
};

/// Builds the parts of one member of a job in order, and destroys them in reverse order. It has no
/// globals: several may exist in one process.
/// Threads:  `start` and `stop` with no other thread; the rest any thread.
/// Progress: `start` and `stop` wait for the other ranks, each step with a deadline.
class instance {
 public:
  /// Joins the job, opens the rails, and publishes where this process is. Connects to no process: a
  /// peer is made on first use. Collective over the job.
  [[nodiscard]] static base::result<std::unique_ptr<instance>> start(const settings& how);
  /// After the caller's own barrier: closes the rails, stops the threads, leaves the job.
  [[nodiscard]] base::result<> stop();
  ~instance();
  instance(const instance&) = delete;
  instance& operator=(const instance&) = delete;

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  /// The processes of the job, in the order of their ranks in it.
  [[nodiscard]] const processes::membership_ref& job_members() const noexcept;
  /// A process's name, the same in every process.
  [[nodiscard]] processes::process_id name_of(processes::peer_id process) const noexcept;

  // Processes of other jobs, which are reached once they were introduced.
  /// What the others need to reach this process.
  [[nodiscard]] base::result<std::vector<std::byte>> own_record();
  /// What this job contributes to the key of the two jobs: told to the other one.
  [[nodiscard]] launch::job_secret contribution_for(std::uint64_t other_job) const;
  /// Before the first process of that job is used. No effect the second time.
  void share_key_with(std::uint64_t other_job, const launch::job_secret& contribution);
  /// Its number here, from now on or already. `record`: `own_record` of that process; not used if
  /// it is of this job.
  /// Errors:   `bad_input`: it is no record.
  [[nodiscard]] base::result<processes::peer_id> introduce(processes::process_id process,
                                                           std::span<const std::byte> record);

  /// Addresses of this machine at which processes of other jobs find this one: the loopback
  /// interface's, and those of the interfaces that the rails use.
  [[nodiscard]] base::result<std::vector<std::string>> hosts() const;

  /// The number of the node on which a process runs: equal numbers share memory. 0 is that of the
  /// job's first rank; other jobs have other numbers.
  [[nodiscard]] int node_of(processes::peer_id process) const noexcept;
  /// Number of the package of its computer that a process is bound to; -1: to none alone.
  [[nodiscard]] int package_of(processes::peer_id process) const noexcept;
  /// Whether these processes outnumber the processors of some computer. The same answer everywhere.
  [[nodiscard]] bool outnumber_processors(const processes::membership& of) const;
  /// What `headway tune` has measured for exactly these processes, if they are all those of this
  /// process's node; null: nothing. The same answer in all of them.
  [[nodiscard]] const collectives::tuned_shape* tuned_for(
      const processes::membership& of) const noexcept;
  /// For `headway info`: makes peers of all processes of the job, to count them.
  [[nodiscard]] std::vector<rail_entry> rails() const;

  /// What carries the packets to a process: the name of a rail, or "several rails"; empty: it was
  /// never used, or is not reached.
  [[nodiscard]] std::string rail_to(processes::peer_id process) const;

  [[nodiscard]] launch::job& job() noexcept;
  [[nodiscard]] const topology::machine& machine() const noexcept;
  [[nodiscard]] progress::engine& progress() noexcept;
  [[nodiscard]] const progress::engine& progress() const noexcept;
  [[nodiscard]] const packets::peers& peers() const noexcept;
  [[nodiscard]] messages::exchange& messages() noexcept;
  [[nodiscard]] endpoints::service& endpoints() noexcept;
  /// Fills `image` with the counters of threads, queues and rails (watch/statistics.hpp).
  void gather(watch::page_image& image) const;
  /// Adds entries to the timeline of HEADWAY_TRACE (watch/timeline_file.hpp).
  void add_to_timeline(std::string_view json);
  /// The shared lines of the processes of this node; null: no rail has them.
  [[nodiscard]] rails::shm_slots* shm_slots() noexcept;
  /// What the windows of this process count.
  [[nodiscard]] windows::statistics& window_counts() noexcept;
  /// The memory contract of the rail between this node's processes; null: no rail has it.
  [[nodiscard]] rails::memory* node_memory() noexcept;

 private:
  struct parts;
  explicit instance(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

}  // namespace headway::runtime
