#include "mpi/making_communicators.hpp"

#include <cstring>
#include <numeric>

#include "mpi/context_ids.hpp"
#include "mpi/failure.hpp"
#include "mpi/library.hpp"
#include "mpi/pool.hpp"

namespace headway::mpi {

int next_agreement_tag(communicator& comm) noexcept {
  constexpr std::uint32_t tags = static_cast<std::uint32_t>(group_tag - agreement_tag);
  return agreement_tag + static_cast<int>(comm.next_collective() % tags);
}

// Bruck's way: after step k each member holds its own entry and the 2^k - 1 that follow it.
bool gather_from_all(communicator& comm, int tag, std::span<const std::byte> mine,
                     std::vector<std::byte>& all) {
  const auto n = static_cast<std::size_t>(comm.size());
  const auto me = static_cast<std::size_t>(comm.rank());
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

communicator* make_communicator(communicator& parent, std::shared_ptr<const member_list> members,
                                int rank) {
  auto* made = pool<communicator>::all().make(std::move(members), rank, std::string());
  made->handler = parent.handler;
  return made;
}

namespace {

int agree(context_agreement& agreement, communicator*& made) {
  agreement.start();
  engine().wait(agreement.done);
  if (agreement.id() != context_id_none) {
    if (made != nullptr) {
      made->open(agreement.id());
    } else {
      give_back_context_id(agreement.id());
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
  std::vector<int> everybody(static_cast<std::size_t>(parent.size()));
  std::iota(everybody.begin(), everybody.end(), 0);
  context_agreement agreement(parent, std::move(everybody), parent.rank(),
                              next_agreement_tag(parent));
  return agree(agreement, made);
}

int agree_and_open(communicator& parent, std::vector<int> members, int me, int tag,
                   communicator*& made) {
  reap_communicators();
  context_agreement agreement(parent, std::move(members), me, group_tag | tag);
  return agree(agreement, made);
}

}  // namespace headway::mpi
