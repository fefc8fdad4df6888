#include "mpi/communicators/creation.hpp"

#include <cstring>

#include "mpi/communicators/context_agreement.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi {

// Bruck's algorithm: after step k each member holds its own entry and the 2^k - 1 that follow it.
bool gather_from_all(communicator& comm, int tag, std::span<const std::byte> mine,
                     std::vector<std::byte>& all) {
  const auto n = static_cast<std::size_t>(comm.everybody()->size());
  const auto me = static_cast<std::size_t>(comm.rank_among_all());
  const std::size_t each = mine.size();
  std::vector<std::byte> mine_first(n * each);
  std::memcpy(mine_first.data(), mine.data(), each);
  for (std::size_t have = 1; have < n; have *= 2) {
    const std::size_t more = std::min(have, n - have);
    messages::request to, from;
    exchange().receive(comm.collective(), from,
                       std::span(mine_first).subspan(have * each, more * each),
                       static_cast<int>((me + have) % n), tag);
    exchange().send(comm.collective(), to, std::span(mine_first).first(more * each),
                    static_cast<int>((me + n - have) % n), tag);
    engine().wait(from);
    engine().wait(to);
    if (from.arrived.how != messages::outcome::ok || to.arrived.how != messages::outcome::ok) {
      return false;
    }
  }
  all.resize(n * each);
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(all.data() + (me + i) % n * each, mine_first.data() + i * each, each);
  }
  return true;
}

communicator* make_communicator(communicator& parent, processes::membership_ref members, int rank,
                                std::optional<communicator::remote_side> other) {
  auto* made =
      pool<communicator>::all().make(std::move(members), rank, std::string(), std::move(other));
  made->handler = parent.handler;
  made->origin = parent.origin;
  return made;
}

namespace {

int agree(context_agreement& agreement, communicator*& made) {
  agreement.start();
  engine().wait(agreement.done);
  if (agreement.id() != context_id_none) {
    if (made != nullptr) {
      made->open(agreement.id(), agreement.incarnation());
    } else {
      all_context_ids().give_back(agreement.id());
    }
    return MPI_SUCCESS;
  }
  if (made != nullptr) made->drop_user();
  made = nullptr;
  return fail(MPI_ERR_OTHER,
              "the processes could not agree on a context: too many communicators, "
              "or a process is gone");
}

}  // namespace

int agree_and_open(communicator& parent, communicator*& made) {
  reap_communicators();
  context_agreement agreement(parent, parent.everybody(), parent.next_agreement_tag());
  return agree(agreement, made);
}

int agree_and_open(communicator& parent, const processes::membership_ref& members, int tag,
                   communicator*& made) {
  reap_communicators();
  context_agreement agreement(parent, members,
                              messages::group_agreement_tags.of(static_cast<std::uint32_t>(tag)));
  return agree(agreement, made);
}

}  // namespace headway::mpi
