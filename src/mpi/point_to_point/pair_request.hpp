#pragma once

#include <atomic>

#include "mpi/point_to_point/message_request.hpp"
#include "mpi/point_to_point/request.hpp"

namespace headway::mpi {

/// The request of MPI_Isendrecv: a send and a receive that complete together.
/// Threads:  see `request`.
class pair_request final : public request {
 public:
  /// With `replace` both use the receive's buffer: the data to send is copied first.
  pair_request(const message_call& send, const message_call& receive, bool replace);
  int finish(MPI_Status& status) override;
  void release() noexcept override;

 private:
  static bool on_part(messages::request& done) noexcept;
  void part_ended() noexcept;

  message_call receive_;
  messages::request sent_, received_;
  communicator_ref kept_;
  std::unique_ptr<std::byte[]> outgoing_, incoming_;
  datatypes::layout_ptr layout_;
  progress::completion both_;
  std::atomic<int> missing_{2};
};

}  // namespace headway::mpi
