#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "messages/exchange.hpp"
#include "progress/completion.hpp"

namespace headway::mpi {

class communicator;

/// Numbers of communicators: n stands for the contexts 2n and 2n + 1.
constexpr std::uint32_t context_id_world = 0;
constexpr std::uint32_t context_id_self = 1;
constexpr std::uint32_t context_id_everyone = 2;   ///< our own, of all processes
constexpr std::uint32_t context_id_endpoints = 3;  ///< not a communicator: endpoints/service.hpp
constexpr std::uint32_t context_id_none = UINT32_MAX;
constexpr std::size_t context_id_words = messages::exchange::context_ids / 2 / 64;

void give_back_context_id(std::uint32_t id) noexcept;

/// Tags in collective contexts: below agreement_tag - 1 they belong to collective operations, from
/// there on to agreements of all members, from group_tag on to MPI_Comm_create_group.
constexpr int agreement_tag = 0x3f000000;
constexpr int group_tag = 0x40000000;

/// The members of a new communicator agree on a number that is free on all of them.
///
/// Round 1: all free numbers are and-ed over the members and one is chosen. Round 2: each member
/// reserves it and the successes are and-ed. A number that another thread's agreement took
/// meanwhile fails in round 2, and all members choose another one, elsewhere. Nobody holds anything
/// while it waits for round 1, so agreements on several communicators cannot block each other,
/// whatever the order in which processes begin them.
///
/// Shape:    and-ing is a dissemination: ceil(log2 n) steps of one message each way, any n.
/// Threads:  `start` once; any number of agreements at once. Steps run where messages complete.
/// Progress: never waits; the caller waits for `done`.
/// Errors:   `id` is `context_id_none` when no number is left or a member was lost.
class context_agreement {
 public:
  /// `members`: ranks in `parent` of those who agree, the same everywhere; `me`: my place in it.
  context_agreement(communicator& parent, std::vector<int> members, int me, int tag);

  void start() noexcept;
  progress::completion done;
  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

 private:
  enum class round : std::uint8_t { choose, confirm };
  using mask = std::array<std::uint64_t, context_id_words>;

  void begin(round which) noexcept;
  void step() noexcept;
  void arrived(const messages::request& r) noexcept;
  void combine() noexcept;
  void conclude() noexcept;
  void choose() noexcept;
  void confirm() noexcept;
  void end() noexcept;
  static bool on_message(messages::request& r) noexcept;

  communicator& parent_;
  std::vector<int> members_;
  int me_;
  int tag_;
  int distance_ = 1;
  int attempt_ = 0;
  round round_ = round::choose;
  bool reserved_ = false;  // round 2: by us; to be given back if another member could not
  bool lost_ = false;
  std::uint32_t id_ = context_id_none;
  std::size_t words_ = 0;  // of the mask, in use in this round
  std::atomic<int> missing_{0};
  messages::request sent_, received_;
  mask mine_{}, theirs_{};
};

}  // namespace headway::mpi
