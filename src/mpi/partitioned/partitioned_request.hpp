#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "datatypes/layout.hpp"
#include "messages/request.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/datatypes/datatype.hpp"
#include "mpi/partitioned/partition_attachment.hpp"
#include "mpi/point_to_point/request.hpp"
#include "progress/completion/completion.hpp"
#include "report/call_timeline.hpp"

namespace headway::mpi {

/// The arguments of MPI_Psend_init and MPI_Precv_init.
struct partitioned_call {
  void* buffer;  ///< not written to by sends
  int partitions;
  MPI_Count count;  ///< of each partition
  const datatype& type;
  int peer;
  int tag;
  communicator& comm;
};

// Each partition of the sender is a message of its own, which leaves when it is ready, under a tag
// of its own in the communicator's collective context. The receiver learns the sender's partitions
// from a message that MPI_Psend_init sends: its tag is made of the program's, so that operations
// match in the order of these calls. It then receives each of the sender's partitions straight into
// its place, whatever its own partitions are. Later rounds need no further agreement: messages of
// one tag match in the order of the rounds. When a member of the communicator is lost, receives
// that are under way end with an error, whichever member it is.

/// What the sender says of itself, on the wire.
struct partition_setup {
  std::int32_t first_tag = 0;
  std::int32_t partitions = 0;
  std::int64_t bytes_each = 0;
};

/// What both have in common.
class partitioned_request : public request {
 public:
  [[nodiscard]] int partitions() const noexcept { return partitions_; }
  int cancel() override;
  [[nodiscard]] bool may_be_abandoned() const noexcept override { return false; }
  /// Called once, before the first start.
  void attach(std::unique_ptr<partition_attachment> what) noexcept { attached_ = std::move(what); }

 protected:
  explicit partitioned_request(const partitioned_call& call);

  [[nodiscard]] bool has_peer() const noexcept { return peer_ != MPI_PROC_NULL; }
  /// The peer's rank in the collective context.
  [[nodiscard]] int peer_rank() const noexcept { return comm->first_remote() + peer_; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return partitions_ * bytes_each_; }
  /// The elements of a partition, and its bytes: in the user's buffer if they are one block there,
  /// otherwise in memory of this object's.
  [[nodiscard]] std::byte* elements(int partition) const noexcept {
    return buffer_ + partition * count_ * layout_->extent();
  }
  [[nodiscard]] std::byte* bytes_at(std::int64_t offset) const noexcept {
    return bytes_begin_ + offset;
  }
  /// Called before the bytes of a partition are sent, and after they have arrived.
  void pack(int partition) noexcept;
  void unpack(int partition) noexcept;

  /// `messages` messages are about to be under way, all of which `end_message` reports.
  void begin_round(std::int64_t messages) noexcept;
  /// The last one completes the operation: this object may be gone afterwards.
  void end_message(messages::outcome how) noexcept;
  /// For the timeline, if calls are traced: the present call starts a round, or has found it
  /// complete.
  void trace_start(bool receives);
  void trace_end() noexcept;
  /// The same for one of the sender's partitions, which is marked as ready, or has arrived.
  void trace_partition(int number, std::int64_t bytes) noexcept;
  [[nodiscard]] messages::outcome how() const noexcept {
    return how_.load(std::memory_order_relaxed);  // read once `done_` says so
  }

  const int partitions_;
  const int peer_;
  const int tag_;
  const std::int64_t bytes_each_;
  std::unique_ptr<partition_attachment> attached_;  // null: nothing
  progress::completion done_;
  report::traced_message* traced_ = nullptr;  // of this round; null: it is not traced

 private:
  communicator_ref kept_;
  std::byte* const buffer_;
  const std::int64_t count_;
  datatypes::layout_ptr layout_;
  std::unique_ptr<std::byte[]> packed_;
  std::byte* bytes_begin_ = nullptr;
  std::atomic<messages::outcome> how_{messages::outcome::ok};
  // (E) release by each message that ends, acquire by the last one: it, and the thread
  // that waits for `done_`, see the writes of all of them.
  std::atomic<std::int64_t> left_{0};
};

/// MPI_Psend_init.
/// Threads:  `ready` any thread, for different partitions at once; the rest see `request`.
class partitioned_send final : public partitioned_request {
 public:
  /// `first_tag`: of as many as there are partitions, which are given back with this object.
  partitioned_send(const partitioned_call& call, int first_tag);
  int start() override;
  /// Sends the partition, which is in range. An MPI error code.
  [[nodiscard]] int ready(int partition);
  int finish(MPI_Status& status) override;
  void release() noexcept override;

 private:
  struct part {
    messages::request wire;
    std::atomic<bool> is_ready{false};
  };
  static bool on_sent(messages::request& r) noexcept;

  const int first_tag_;
  partition_setup setup_;
  messages::request setup_sent_;
  std::unique_ptr<part[]> parts_;
};

/// MPI_Precv_init.
/// Threads:  `has_arrived` any thread; the rest see `request`. The first round is begun by the
///           later one of `start` and the arrival of the sender's message.
class partitioned_receive final : public partitioned_request {
 public:
  explicit partitioned_receive(const partitioned_call& call);
  int start() override;
  /// Of a partition that is in range.
  [[nodiscard]] bool has_arrived(int partition) const noexcept;
  /// The present call has found that it has arrived.
  void trace_arrival(int partition) noexcept;
  int finish(MPI_Status& status) override;
  void release() noexcept override;

 private:
  struct own_partition {
    std::atomic<std::int64_t> missing{0};  // messages
    std::atomic<bool> is_here{false};
  };
  static bool on_setup(messages::request& r) noexcept;
  static bool on_part(messages::request& r) noexcept;
  void read_setup() noexcept;
  void post() noexcept;
  void arrived(const messages::request& r) noexcept;
  /// The sender's partitions of which a partition here consists.
  struct range {
    std::int64_t first, last;
  };
  [[nodiscard]] range parts_of(std::int64_t partition) const noexcept;
  /// Those of the sender's partitions that no call has noted in this round.
  void trace_parts(range which) noexcept;

  partition_setup setup_;
  messages::request setup_received_;
  messages::outcome setup_how_ = messages::outcome::ok;
  std::unique_ptr<messages::request[]> parts_;  // one for each partition of the sender
  std::unique_ptr<own_partition[]> own_;
  base::spinlock noting_;
  std::vector<char> noted_ HEADWAY_GUARDED_BY(noting_);  // in the timeline, by sender's partition
  // Both bits are set once. The thread that sets the second one calls `post`; (S) release and
  // acquire: it sees what the other thread has written. After the first bit its setter does not
  // touch this object unless it is called again.
  static constexpr unsigned setup_is_here = 1, was_started = 2;
  std::atomic<unsigned> state_{0};
};

}  // namespace headway::mpi
