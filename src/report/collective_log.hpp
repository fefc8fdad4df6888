#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headway::report {

/// Which members of a communicator a collective operation makes wait for which others.
enum class dependence : std::uint32_t {
  on_all,      ///< every rank for the last one: barrier, allreduce, alltoall
  on_root,     ///< every rank for the root: bcast, scatter
  root_alone,  ///< the root for every other rank: reduce, gather
  on_lower     ///< every rank for those before it: scan
};

/// One call of a collective operation on this process.
struct collective_entry {
  std::uint64_t number = 0;  ///< of the call on its communicator: the same on all its members
  std::uint64_t entered_ns = 0, left_ns = 0;  ///< base::machine_now_ns of this machine
  std::uint32_t root = 0;                     ///< rank in the job
  dependence waits = dependence::on_all;
};

/// The calls of blocking collective operations on one communicator. All members keep the same ones:
/// every call at first, later those whose number is a multiple of `stride`.
/// Shape:    at most `entries_max` entries; when they are full, every second one is dropped and the
///           stride doubled.
/// Threads:  one at a time, as the standard requires of collective calls.
class collective_log {
 public:
  static constexpr std::size_t entries_max = 2048;

  collective_log() = default;
  collective_log(std::uint32_t context, std::vector<std::uint32_t> members)
      : context_(context), members_(std::move(members)) {}

  /// Every call is counted by `next`, and then noted at its end.
  [[nodiscard]] std::uint64_t next() noexcept { return calls_++; }
  void note(const collective_entry& call);
  /// The number of one more operation in a timeline, which has those that are not noted here too.
  [[nodiscard]] std::uint64_t next_traced() noexcept { return traced_++; }

  /// The same operations on another process have the same context and members.
  [[nodiscard]] bool same_as(std::uint32_t context,
                             const std::vector<std::uint32_t>& members) const {
    return context_ == context && members_ == members;
  }
  [[nodiscard]] bool same_as(const collective_log& other) const {
    return same_as(other.context_, other.members_);
  }
  [[nodiscard]] const std::vector<std::uint32_t>& members() const noexcept { return members_; }
  [[nodiscard]] const std::vector<collective_entry>& entries() const noexcept { return entries_; }
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
  [[nodiscard]] std::uint64_t stride() const noexcept { return stride_; }

  template <class Archive>
  void fields(Archive& a) {
    a(context_, members_, calls_, stride_, entries_);
  }

 private:
  std::uint32_t context_ = 0;
  std::vector<std::uint32_t> members_;  // ranks in the job
  std::uint64_t calls_ = 0;
  std::uint64_t traced_ = 0;
  std::uint64_t stride_ = 1;
  std::vector<collective_entry> entries_;
};

}  // namespace headway::report
