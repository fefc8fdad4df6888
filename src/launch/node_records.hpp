#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/identity.hpp"

namespace headway::launch {

/// The records of a job's processes, shared by the processes of one node, so that each record is
/// looked up once and stored once on each node.
///
/// Shape:    a sparse file in /dev/shm, mapped by each process of the node and unlinked as soon as
///           all of them have it; a slot of eight bytes for each rank and one for the node itself,
///           and an arena for the records. Its name contains a keyed hash of the job's secret, so
///           that no other job opens it. The job's processes keep it locked: without a lock, a
///           process of another job that starts would remove it as the file of a dead job.
/// Threads:  any, in any process of the node.
/// Progress: `find` waits for a process that is looking up that record, but only for a limited
///           time.
/// Errors:   if the file cannot be made, or is full, nothing is shared: `find` finds nothing, and
///           each process looks up the records itself. HEADWAY_LOG=info prints the reason.
class node_records {
 public:
  /// `claim_ns_max`: how long `find` waits for a process that looks up a record, and may have died.
  node_records(const identity& who, const job_secret& secret,
               std::uint64_t claim_ns_max = 1'000'000'000);
  ~node_records();
  node_records(const node_records&) = delete;
  node_records& operator=(const node_records&) = delete;

  /// Instead of a rank: other data that the processes of the node share.
  [[nodiscard]] int node_itself() const noexcept { return static_cast<int>(size_); }

  /// The record of `rank`, if a process of this node has stored it.
  [[nodiscard]] std::optional<std::vector<std::byte>> find(int rank) const;
  /// True: this process is to look up the record, and then calls `put` or `abandon`.
  [[nodiscard]] bool claim(int rank) noexcept;
  /// Stores the record of `rank`, whose slot this process has claimed, or its own.
  void put(int rank, std::span<const std::byte> record) noexcept;
  void abandon(int rank) noexcept;
  /// Every process of the node has opened the file: removes its name.
  void unlink_name() noexcept;

 private:
  struct table;
  [[nodiscard]] base::result<> map_file();
  [[nodiscard]] std::atomic<std::uint64_t>& slot(int rank) const noexcept;

  const std::string path_;
  const std::uint64_t claim_ns_max_;
  std::size_t size_ = 0;    ///< processes of the job
  int descriptor_ = -1;     ///< of the file; -1: nothing is shared
  std::size_t bytes_ = 0;   ///< of the file
  table* table_ = nullptr;  ///< the file, mapped
};

}  // namespace headway::launch
