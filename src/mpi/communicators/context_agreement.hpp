#pragma once

#include <atomic>
#include <cstdint>

#include "messages/exchange.hpp"
#include "mpi/communicators/context_id_choice.hpp"
#include "processes/membership.hpp"
#include "progress/completion/completion.hpp"

namespace headway::mpi {

class communicator;

/// The context ids of this process.
[[nodiscard]] context_ids& all_context_ids() noexcept;

/// Agreement of the members of a new communicator on its context id and the incarnation of that
/// (context_id_choice), by messages in the parent's collective context.
///
/// Shape:    a round is a dissemination among n members: ceil(log2 n) steps of one message in each
///           direction, in most cases of 24 bytes.
/// Threads:  `start` once; any number of agreements at once. Steps run in the threads that complete
///           messages.
/// Progress: never waits; the caller waits for `done`.
/// Errors:   `id` is `context_id_none` when no id is left or a member was lost.
class context_agreement {
 public:
  /// `members`: the processes that agree, the same on all of them: members of `parent`, this
  /// process included. `tag`: from the ranges for agreements in messages/numbers.hpp, the same on
  /// all, and not in use among them.
  context_agreement(communicator& parent, processes::membership_ref members, int tag);

  void start() noexcept;
  progress::completion done;
  /// The result, once `done` is complete.
  [[nodiscard]] std::uint32_t id() const noexcept { return choice_.id(); }
  [[nodiscard]] std::uint64_t incarnation() const noexcept { return choice_.incarnation(); }

 private:
  void step() noexcept;
  void arrived(const messages::request& r) noexcept;
  [[nodiscard]] int rank_in_parent(int index) const noexcept;
  static bool on_message(messages::request& r) noexcept;

  communicator& parent_;
  const processes::membership_ref members_;
  const int me_;  // among them
  const int tag_;
  int distance_ = 1;
  std::atomic<bool> lost_{false};
  std::atomic<int> missing_{0};
  messages::request sent_, received_;
  context_id_choice choice_;
};

}  // namespace headway::mpi
