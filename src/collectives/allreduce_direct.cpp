#include <algorithm>
#include <cstring>
#include <new>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/partition.hpp"

namespace headway::collectives {
namespace {

/// Small enough to stay in the cache while it is copied, combined and copied again. Half of it
/// costs 1.1 times as much.
constexpr std::int64_t slice_bytes = 128 * 1024;

/// The addresses of a rank's buffers. They are trusted as the rank's data are: all ranks are
/// processes of one user.
struct buffer_addresses {
  std::uint64_t input = 0;
  std::uint64_t result = 0;
  std::int64_t bytes = 0;  ///< of each buffer: on all ranks the same, else the program is wrong
};

/// Reduces this rank's part: reads it from the memory of all ranks, writes it into that of all.
class direct_part final : public schedule::own_step {
 public:
  direct_part(schedule& s, const team& t, const reduction& r);

  [[nodiscard]] buffer_addresses* of_all() noexcept { return of_all_; }
  [[nodiscard]] int act() noexcept override;

 private:
  struct slice {
    std::int64_t offset, bytes, count;
    std::byte* sum;
  };
  [[nodiscard]] int rank_at(int place) const noexcept;
  [[nodiscard]] int combine(const slice& s) noexcept;
  [[nodiscard]] int write_to_all(const slice& s) noexcept;
  [[nodiscard]] const std::byte* contribution(int rank, const slice& s, std::byte* buffer) noexcept;

  transport& via_;
  peer_copies& copies_;
  const reducer op_;
  const int rank_, size_;
  const std::int64_t element_;  // bytes
  std::int64_t begin_, end_;    // elements
  const std::byte* input_;
  std::byte* result_;
  buffer_addresses* of_all_;  // by rank
  int last_;                  // the rank of the rightmost contribution, with which the sum begins
  std::byte* arriving_;       // a slice of another rank's contribution
  std::byte* sum_ = nullptr;  // a slice of the result, where that may not overwrite the input
};

direct_part::direct_part(schedule& s, const team& t, const reduction& r)
    : via_(t.via),
      copies_(*t.memory.copies),
      op_(r.op),
      rank_(t.rank),
      size_(t.size),
      element_(r.type->size()),
      input_(static_cast<const std::byte*>(r.input())),
      result_(static_cast<std::byte*>(r.receive)) {
  const partition part(r.count, t.size);
  begin_ = part.begin(t.rank);
  end_ = begin_ + part.length(t.rank);
  // In place the sum begins with this rank's own contribution, otherwise with another one, which is
  // read straight into the result: neither needs a copy. Where the order of ranks must be kept it
  // begins with the last rank's.
  last_ = !op_.commutative ? size_ - 1 : r.in_place ? rank_ : (rank_ + 1) % size_;
  of_all_ = reinterpret_cast<buffer_addresses*>(
      s.scratch(static_cast<std::int64_t>(sizeof(buffer_addresses)) * size_));
  const std::int64_t bytes = std::max(slice_bytes, element_);
  arriving_ = s.scratch(bytes);
  if (r.in_place && last_ != rank_) sum_ = s.scratch(bytes);
}

/// The ranks in the order in which their contributions are combined: from right to left.
int direct_part::rank_at(int place) const noexcept { return (last_ - place + size_) % size_; }

int direct_part::act() noexcept {
  for (int rank = 0; rank < size_; ++rank)
    if (of_all_[rank].bytes != of_all_[rank_].bytes) return rank;
  const std::int64_t at_once = std::max<std::int64_t>(slice_bytes / element_, 1);
  for (std::int64_t at = begin_; at < end_; at += at_once) {
    const std::int64_t count = std::min(at_once, end_ - at), offset = at * element_;
    const slice s{.offset = offset,
                  .bytes = count * element_,
                  .count = count,
                  .sum = sum_ ? sum_ : result_ + offset};
    int missed = combine(s);
    if (missed < 0) missed = write_to_all(s);
    if (missed < 0) continue;
    if (!via_.lost(missed))
      base::log(base::severity::warning,
                "allreduce: the memory of rank {} cannot be touched; if it lives, "
                "HEADWAY_COLLECTIVES=allreduce:ring sends messages instead",
                missed);
    return missed;
  }
  return -1;
}

/// A rank's contribution: this rank's own where it is, another's copied into `buffer`. Null: its
/// memory cannot be read.
const std::byte* direct_part::contribution(int rank, const slice& s, std::byte* buffer) noexcept {
  if (rank == rank_) return input_ + s.offset;
  const auto from = of_all_[rank].input + static_cast<std::uint64_t>(s.offset);
  return copies_.read(rank, from, {buffer, static_cast<std::size_t>(s.bytes)}) ? buffer : nullptr;
}

int direct_part::combine(const slice& s) noexcept {
  const auto* first = contribution(last_, s, s.sum);
  if (!first) return last_;
  if (first != s.sum) std::memcpy(s.sum, first, static_cast<std::size_t>(s.bytes));
  for (int place = 1; place < size_; ++place) {
    const int rank = rank_at(place);
    const auto* left = contribution(rank, s, arriving_);
    if (!left) return rank;
    op_.apply(op_, left, s.sum, s.count);
  }
  return -1;
}

int direct_part::write_to_all(const slice& s) noexcept {
  for (int i = 1; i < size_; ++i) {  // each rank starts with another one
    const int rank = (rank_ + i) % size_;
    const auto to = of_all_[rank].result + static_cast<std::uint64_t>(s.offset);
    if (!copies_.write(rank, to, {s.sum, static_cast<std::size_t>(s.bytes)})) return rank;
  }
  std::byte* own = result_ + s.offset;
  if (s.sum != own) std::memcpy(own, s.sum, static_cast<std::size_t>(s.bytes));
  return -1;
}

}  // namespace

// In the first round each rank publishes the addresses of its buffers; no rank accesses them
// before. In the second each announces that it no longer accesses other ranks' buffers. A rank that
// has failed sends that message, too, and no rank returns before it has all of them, so that no
// rank writes into buffers that the program uses again. A lost rank is dead and writes nothing.
void allreduce_direct(schedule& s, const team& t, const reduction& r) {
  if (r.count == 0 || r.type->size() == 0) return;
  HEADWAY_ASSERT(t.memory.copies && r.type->is_contiguous());
  static_assert(alignof(direct_part) <= 64 && std::is_trivially_destructible_v<direct_part>);
  auto* part = new (s.scratch(sizeof(direct_part))) direct_part(s, t, r);
  buffer_addresses* of_all = part->of_all();
  of_all[t.rank] = {.input = reinterpret_cast<std::uint64_t>(r.input()),
                    .result = reinterpret_cast<std::uint64_t>(r.receive),
                    .bytes = r.bytes()};
  for (int i = 1; i < t.size; ++i) {
    const int to = (t.rank + i) % t.size, from = (t.rank - i + t.size) % t.size;
    s.receive(from, &of_all[from], sizeof(buffer_addresses));
    s.send(to, &of_all[t.rank], sizeof(buffer_addresses));
  }
  s.close_round();
  s.perform(*part);
  for (int i = 1; i < t.size; ++i) {
    const int to = (t.rank + i) % t.size, from = (t.rank - i + t.size) % t.size;
    s.receive(from, nullptr, 0);
    s.send(to, nullptr, 0);
  }
  s.close_round();
}

}  // namespace headway::collectives
