#pragma once

#include <atomic>
#include <cstdint>

#include "messages/exchange.hpp"
#include "mpi/communicators/context_id_choice.hpp"
#include "processes/membership.hpp"
#include "progress/completion/completion.hpp"

namespace headway::mpi {

class communicator;

/// The numbers of this process's communicators.
[[nodiscard]] context_ids& all_context_ids() noexcept;

/// The members of a new communicator agree on its number (context_id_choice) by messages in their
/// parent's collective context.
///
/// Shape:    a round is a dissemination: ceil(log2 n) steps of one message each way, any n; 16
///           bytes each in most cases.
/// Threads:  `start` once; any number of agreements at once. Steps run where messages complete.
/// Progress: never waits; the caller waits for `done`.
/// Errors:   `id` is `context_id_none` when no number is left or a member was lost.
class context_agreement {
 public:
  /// `who` agree: the same on all of them, all members of `parent`, with me. `tag`: of the ranges
  /// for agreements in messages/numbers.hpp, the same on all, not in use between them.
  context_agreement(communicator& parent, processes::membership_ref who, int tag);

  void start() noexcept;
  progress::completion done;
  /// When it is done.
  [[nodiscard]] std::uint32_t id() const noexcept { return choice_.id(); }

 private:
  void step() noexcept;
  void arrived(const messages::request& r) noexcept;
  [[nodiscard]] int rank_in_parent(int index) const noexcept;
  static bool on_message(messages::request& r) noexcept;

  communicator& parent_;
  const processes::membership_ref who_;
  const int me_;  // among them
  const int tag_;
  int distance_ = 1;
  std::atomic<bool> lost_{false};
  std::atomic<int> missing_{0};
  messages::request sent_, received_;
  context_id_choice choice_;
};

}  // namespace headway::mpi
