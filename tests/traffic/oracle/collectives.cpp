#include "collectives.hpp"

#include <random>

namespace oracle {
namespace {

constexpr std::size_t under_way_max = 3;
constexpr long blocking_ones = 1 << 20;  // their numbers begin here

}  // namespace

collectives::planned collectives::plan(long number) const {
  std::minstd_rand random(settings_.seed * 31u + static_cast<unsigned>(thread_) * 7919u +
                          static_cast<unsigned>(number) + 1u);
  random.discard(3);
  const auto what = number >= blocking_ones
                        ? static_cast<kind>(number - blocking_ones)
                        : static_cast<kind>(random() % static_cast<unsigned>(kind_count));
  const auto root = static_cast<int>(random() % static_cast<unsigned>(settings_.size));
  const auto size = size_of(static_cast<std::uint32_t>(random())) / sizeof(long);
  return {what, root, static_cast<int>(size) / settings_.size, number};
}

/// The i-th element of this rank's.
long collectives::value(const planned& what, int rank, int i) {
  return what.number * 1'000'003 + rank * 10'007 + i;
}

/// How many elements this rank gets.
std::size_t collectives::received(const planned& what) const {
  const auto count = static_cast<std::size_t>(what.count);
  switch (what.what) {
    case barrier:
      return 0;
    case gather:
      return what.root == settings_.rank ? count * static_cast<std::size_t>(settings_.size) : 0;
    case alltoall:
      return count * static_cast<std::size_t>(settings_.size);
    default:
      return count;
  }
}

void collectives::prepare(operation& o) const {
  const auto blocks = o.what.what == alltoall ? settings_.size : 1;
  for (int i = 0; i < o.what.count * blocks; ++i)
    o.from.push_back(value(o.what, settings_.rank, i));
  o.to.assign(received(o.what), -1);
  if (o.what.what == bcast && o.what.root == settings_.rank) o.to = o.from;
}

void collectives::start(operation& o) const {
  const auto& [what, root, count, number] = o.what;
  switch (what) {
    case bcast:
      MPI_Ibcast(o.to.data(), count, MPI_LONG, root, comm_, &o.request);
      break;
    case allreduce:
      MPI_Iallreduce(o.from.data(), o.to.data(), count, MPI_LONG, MPI_SUM, comm_, &o.request);
      break;
    case alltoall:
      MPI_Ialltoall(o.from.data(), count, MPI_LONG, o.to.data(), count, MPI_LONG, comm_,
                    &o.request);
      break;
    case gather:
      MPI_Igather(o.from.data(), count, MPI_LONG, o.to.data(), count, MPI_LONG, root, comm_,
                  &o.request);
      break;
    case scan:
      MPI_Iscan(o.from.data(), o.to.data(), count, MPI_LONG, MPI_SUM, comm_, &o.request);
      break;
    default:
      MPI_Ibarrier(comm_, &o.request);
  }
}

void collectives::run(operation& o) const {
  const auto& [what, root, count, number] = o.what;
  switch (what) {
    case bcast:
      MPI_Bcast(o.to.data(), count, MPI_LONG, root, comm_);
      break;
    case allreduce:
      MPI_Allreduce(o.from.data(), o.to.data(), count, MPI_LONG, MPI_SUM, comm_);
      break;
    case alltoall:
      MPI_Alltoall(o.from.data(), count, MPI_LONG, o.to.data(), count, MPI_LONG, comm_);
      break;
    case gather:
      MPI_Gather(o.from.data(), count, MPI_LONG, o.to.data(), count, MPI_LONG, root, comm_);
      break;
    case scan:
      MPI_Scan(o.from.data(), o.to.data(), count, MPI_LONG, MPI_SUM, comm_);
      break;
    default:
      MPI_Barrier(comm_);
  }
}

void collectives::check(const operation& o) const {
  const auto& what = o.what;
  for (int at = 0; at < static_cast<int>(o.to.size()); ++at) {
    const int block = what.count > 0 ? at / what.count : 0;
    const int i = what.count > 0 ? at % what.count : 0;
    const int last = what.what == scan ? settings_.rank : settings_.size - 1;
    long due = 0;
    if (what.what == bcast) due = value(what, what.root, at);
    else if (what.what == gather) due = value(what, block, i);
    else if (what.what == alltoall) due = value(what, block, settings_.rank * what.count + i);
    else
      for (int rank = 0; rank <= last; ++rank) due += value(what, rank, at);
    if (o.to[static_cast<std::size_t>(at)] != due)
      wrong("a wrong result of a collective operation", what.number);
  }
}

bool collectives::step(bool waits) {
  if (started_ < settings_.collectives && under_way_.size() < under_way_max) {
    auto& o = under_way_.emplace_back(operation{.what = plan(started_++)});
    prepare(o);
    start(o);
    return true;
  }
  if (under_way_.empty()) return false;
  auto& oldest = under_way_.front();
  int done = 0;
  if (waits) done = MPI_Wait(&oldest.request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  else MPI_Test(&oldest.request, &done, MPI_STATUS_IGNORE);
  if (!done) return true;
  check(oldest);
  under_way_.pop_front();
  ++ended_;
  return true;
}

long collectives::finish() {
  if (settings_.collectives == 0) return 0;
  for (int i = 0; i < kind_count; ++i) {
    operation o{.what = plan(blocking_ones + i)};
    prepare(o);
    run(o);
    check(o);
    ++ended_;
  }
  return ended_;
}

}  // namespace oracle
