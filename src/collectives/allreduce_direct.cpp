#include <algorithm>
#include <cstring>
#include <new>

#include "base/log.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/partition.hpp"

namespace headway::collectives {
namespace {

/// Copied, combined and copied again while it is in the cache. Half of it costs 1.1 times as much.
constexpr std::int64_t slice_bytes = 128 * 1024;

/// Where a rank's vectors are. Sent to the others, who believe it as they believe its data: all
/// ranks are processes of one user.
struct card {
  std::uint64_t input = 0;
  std::uint64_t result = 0;
  std::int64_t bytes = 0;  ///< of each: another number is an error of the program
};

/// This rank's part: from the memory of all, into the memory of all.
class direct_part final : public schedule::own_step {
 public:
  direct_part(schedule& s, const team& t, const reduction& r);

  [[nodiscard]] card* cards() noexcept { return cards_; }
  [[nodiscard]] int act(carrier& via) noexcept override;

 private:
  struct slice {
    std::int64_t offset, bytes, count;
    std::byte* sum;
  };
  [[nodiscard]] int rank_at(int place) const noexcept;
  [[nodiscard]] int combine(carrier& via, const slice& s) noexcept;
  [[nodiscard]] int hand_out(carrier& via, const slice& s) noexcept;
  [[nodiscard]] const std::byte* contribution(carrier& via, int rank, const slice& s,
                                              std::byte* room) noexcept;

  const reducer op_;
  const int rank_, size_;
  const std::int64_t element_;  // bytes
  std::int64_t begin_, end_;    // elements
  const std::byte* input_;
  std::byte* result_;
  card* cards_;               // by rank
  int last_;                  // its contribution is the rightmost, with which the sum begins
  std::byte* arriving_;       // room for a slice
  std::byte* sum_ = nullptr;  // another, where the result lies on the input
};

direct_part::direct_part(schedule& s, const team& t, const reduction& r)
    : op_(r.op),
      rank_(t.rank),
      size_(t.size),
      element_(r.type->size()),
      input_(static_cast<const std::byte*>(r.input())),
      result_(static_cast<std::byte*>(r.receive)) {
  const partition part(r.count, t.size);
  begin_ = part.begin(t.rank);
  end_ = begin_ + part.length(t.rank);
  // Begun with our own contribution in place, or with another's elsewhere, nothing is copied for
  // it; where the order of ranks must be kept there is no choice.
  last_ = !op_.commutative ? size_ - 1 : r.in_place ? rank_ : (rank_ + 1) % size_;
  cards_ = reinterpret_cast<card*>(s.scratch(static_cast<std::int64_t>(sizeof(card)) * size_));
  const std::int64_t room = std::max(slice_bytes, element_);
  arriving_ = s.scratch(room);
  if (r.in_place && last_ != rank_) sum_ = s.scratch(room);
}

/// From right to left.
int direct_part::rank_at(int place) const noexcept { return (last_ - place + size_) % size_; }

int direct_part::act(carrier& via) noexcept {
  for (int rank = 0; rank < size_; ++rank)
    if (cards_[rank].bytes != cards_[rank_].bytes) return rank;
  const std::int64_t at_once = std::max<std::int64_t>(slice_bytes / element_, 1);
  for (std::int64_t at = begin_; at < end_; at += at_once) {
    const std::int64_t count = std::min(at_once, end_ - at), offset = at * element_;
    const slice s{.offset = offset,
                  .bytes = count * element_,
                  .count = count,
                  .sum = sum_ ? sum_ : result_ + offset};
    int missed = combine(via, s);
    if (missed < 0) missed = hand_out(via, s);
    if (missed < 0) continue;
    if (!via.lost(missed))
      base::log(base::severity::warning,
                "allreduce: the memory of rank {} cannot be touched; if it lives, "
                "HEADWAY_COLLECTIVES=allreduce:ring sends messages instead",
                missed);
    return missed;
  }
  return -1;
}

/// A rank's contribution: our own where it is, another's in `room`. Null: it is out of reach.
const std::byte* direct_part::contribution(carrier& via, int rank, const slice& s,
                                           std::byte* room) noexcept {
  if (rank == rank_) return input_ + s.offset;
  const auto from = cards_[rank].input + static_cast<std::uint64_t>(s.offset);
  return via.read(rank, from, {room, static_cast<std::size_t>(s.bytes)}) ? room : nullptr;
}

int direct_part::combine(carrier& via, const slice& s) noexcept {
  const auto* first = contribution(via, last_, s, s.sum);
  if (!first) return last_;
  if (first != s.sum) std::memcpy(s.sum, first, static_cast<std::size_t>(s.bytes));
  for (int place = 1; place < size_; ++place) {
    const int rank = rank_at(place);
    const auto* left = contribution(via, rank, s, arriving_);
    if (!left) return rank;
    op_.apply(op_, left, s.sum, s.count);
  }
  return -1;
}

int direct_part::hand_out(carrier& via, const slice& s) noexcept {
  for (int i = 1; i < size_; ++i) {  // not all to the same one at a time
    const int rank = (rank_ + i) % size_;
    const auto to = cards_[rank].result + static_cast<std::uint64_t>(s.offset);
    if (!via.write(rank, to, {s.sum, static_cast<std::size_t>(s.bytes)})) return rank;
  }
  std::byte* own = result_ + s.offset;
  if (s.sum != own) std::memcpy(own, s.sum, static_cast<std::size_t>(s.bytes));
  return -1;
}

}  // namespace

// The cards say that everybody's vectors are there; nobody touches them before. The second round
// says that the sender has touched all that it will: also a rank that goes with an error goes
// behind it, so nobody writes into memory that is the program's again. Who is lost is dead.
void allreduce_direct(schedule& s, const team& t, const reduction& r) {
  if (r.count == 0 || r.type->size() == 0) return;
  static_assert(alignof(direct_part) <= 64 && std::is_trivially_destructible_v<direct_part>);
  auto* part = new (s.scratch(sizeof(direct_part))) direct_part(s, t, r);
  card* cards = part->cards();
  cards[t.rank] = {.input = reinterpret_cast<std::uint64_t>(r.input()),
                   .result = reinterpret_cast<std::uint64_t>(r.receive),
                   .bytes = r.bytes()};
  for (int i = 1; i < t.size; ++i) {
    const int to = (t.rank + i) % t.size, from = (t.rank - i + t.size) % t.size;
    s.receive(from, &cards[from], sizeof(card));
    s.send(to, &cards[t.rank], sizeof(card));
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
