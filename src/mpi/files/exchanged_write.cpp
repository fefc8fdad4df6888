#include "mpi/files/exchanged_write.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <vector>

#include "mpi/collectives/collective_calls.hpp"
#include "mpi/communicators/creation.hpp"
#include "mpi/environment/failure.hpp"

namespace headway::mpi {
namespace {

/// A piece of the file; its bytes come behind the list of pieces, in their order.
struct piece {
  std::int64_t offset, bytes;
};

/// What a process says of its part of a collective write.
struct extent_of_data {
  std::int64_t begin = 0, end = 0;  // in the file; equal: no data
  std::int64_t piece_bytes = 0;     // on average
};

constexpr std::int64_t page = 4096;
/// Pieces of more bytes are written one by one as fast.
constexpr std::int64_t exchanged_bytes_max = 2048;
/// What a process writes at a time, so that it stays in the caches on its way.
constexpr std::int64_t block_bytes = 1024 * 1024;

/// Of the bytes [begin, end) of an access.
[[nodiscard]] std::int64_t count_pieces(const files::view& seen, std::int64_t begin,
                                        std::int64_t end) {
  std::int64_t count = 0;
  seen.for_each_piece(begin, end, [&](std::int64_t, std::int64_t) { ++count; });
  return count;
}

/// Memory that is used again and again, and not set to zero each time.
class reused_memory {
 public:
  void clear() noexcept { used_ = 0; }
  [[nodiscard]] const std::byte* data() const noexcept { return bytes_.data(); }
  [[nodiscard]] std::byte* data() noexcept { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return used_; }
  /// So many more bytes.
  std::byte* append(std::size_t bytes) {
    const auto at = used_;
    used_ += bytes;
    if (bytes_.size() < used_) bytes_.resize(std::max(used_, 2 * bytes_.size()));
    return bytes_.data() + at;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
};

/// Writes blocks of the file that consist of pieces from all processes.
class exchange_of_pieces {
 public:
  exchange_of_pieces(const files::access& mine, file& fh, const exchange_choice& where)
      : mine_(mine),
        file_(fh),
        view_(fh.view().data),
        size_(static_cast<std::size_t>(fh.comm().size())),
        where_(where) {
    const auto ranks = fh.comm().size();
    domain_ = rounded((where.end - where.begin + ranks - 1) / ranks);
    block_ = std::min(domain_, block_bytes);
    for (auto* const each : {&send_counts_, &send_places_, &counts_, &places_}) each->resize(size_);
  }

  [[nodiscard]] std::int64_t rounds() const noexcept { return (domain_ + block_ - 1) / block_; }

  /// An MPI error code; `error`: of the kernel.
  [[nodiscard]] int write_block(std::int64_t round, int& error) {
    collect(round);
    auto& bytes = *find<datatype>(MPI_BYTE);
    auto& number = *find<datatype>(MPI_INT64_T);
    auto& comm = file_.comm();
    if (const int code = run_collective(
            comm, calls::alltoall{send_counts_.data(), 1, number, counts_.data(), 1, number}))
      return code;
    std::exclusive_scan(counts_.begin(), counts_.end(), places_.begin(), std::int64_t{0});
    received_.clear();
    received_.append(static_cast<std::size_t>(places_.back() + counts_.back()));
    if (const int code = run_collective(
            comm, calls::alltoallv{sent_.data(), integers(send_counts_.data()),
                                   integers(send_places_.data()), bytes, received_.data(),
                                   integers(counts_.data()), integers(places_.data()), bytes}))
      return code;
    if (error == 0) error = write_received();
    return MPI_SUCCESS;
  }

 private:
  [[nodiscard]] static std::int64_t rounded(std::int64_t bytes) noexcept {
    return (bytes + page - 1) / page * page;
  }

  /// What this process has for the block of each.
  void collect(std::int64_t round) {
    sent_.clear();
    for (std::size_t to = 0; to < size_; ++to) {
      const auto domain = where_.begin + static_cast<std::int64_t>(to) * domain_;
      const auto begin = domain + round * block_;
      const auto end = std::min(begin + block_, domain + domain_);
      send_places_[to] = static_cast<std::int64_t>(sent_.size());
      const auto first = inside(begin), behind = inside(end);
      if (first < behind) append(first, behind);
      send_counts_[to] = static_cast<std::int64_t>(sent_.size()) - send_places_[to];
    }
  }

  /// How many bytes of the access lie in front of an offset.
  [[nodiscard]] std::int64_t inside(std::int64_t offset) const noexcept {
    return std::clamp<std::int64_t>(view_.position_of(offset) - mine_.position, 0,
                                    mine_.memory.bytes());
  }

  /// The number of pieces, the pieces, and their bytes.
  void append(std::int64_t first, std::int64_t behind) {
    const auto begin = mine_.position + first, end = mine_.position + behind;
    const auto count = count_pieces(view_, begin, end);
    const auto list_bytes = sizeof count + static_cast<std::size_t>(count) * sizeof(piece);
    auto* to = sent_.append(list_bytes + static_cast<std::size_t>(behind - first));
    std::memcpy(to, &count, sizeof count);
    to += sizeof count;
    view_.for_each_piece(begin, end, [&](std::int64_t offset, std::int64_t bytes) {
      const piece next{offset, bytes};
      std::memcpy(to, &next, sizeof next);
      to += sizeof next;
    });
    mine_.memory.type->pack(mine_.memory.buffer, mine_.memory.count, first, behind, to);
  }

  /// The pieces that one process has sent, in the order of the file.
  class received_pieces {
   public:
    received_pieces(const std::byte* at, std::int64_t bytes) noexcept {
      if (bytes == 0) return;
      std::memcpy(&left_, at, sizeof left_);
      list_ = at + sizeof left_;
      data_ = list_ + static_cast<std::size_t>(left_) * sizeof(piece);
    }
    [[nodiscard]] bool any() const noexcept { return left_ > 0; }
    [[nodiscard]] piece first() const noexcept {
      piece p{};
      std::memcpy(&p, list_, sizeof p);
      return p;
    }
    [[nodiscard]] const std::byte* data() const noexcept { return data_; }
    void drop_first() noexcept {
      data_ += first().bytes;
      list_ += sizeof(piece);
      --left_;
    }

   private:
    std::int64_t left_ = 0;
    const std::byte* list_ = nullptr;
    const std::byte* data_ = nullptr;
  };
  [[nodiscard]] received_pieces received_from(std::size_t rank) const noexcept {
    return {received_.data() + places_[rank], counts_[rank]};
  }

  /// Calls `each(piece, data)` for all pieces that have come, in the order of the ranks.
  template <class Each>
  void for_each_received(Each&& each) const {
    for (std::size_t from = 0; from < size_; ++from)
      for (auto pieces = received_from(from); pieces.any(); pieces.drop_first())
        each(pieces.first(), pieces.data());
  }

  /// Whether they leave no gap from `begin` to `end`. Pieces of several processes may overlap.
  [[nodiscard]] bool have_no_gap(std::int64_t begin, std::int64_t end) const {
    std::vector<received_pieces> of_ranks;
    for (std::size_t from = 0; from < size_; ++from) of_ranks.push_back(received_from(from));
    for (auto reached = begin; reached < end;) {
      const auto before = reached;
      for (auto& pieces : of_ranks)
        for (; pieces.any() && pieces.first().offset <= reached; pieces.drop_first())
          reached = std::max(reached, pieces.first().offset + pieces.first().bytes);
      if (reached == before) return false;
    }
    return true;
  }

  [[nodiscard]] int write_received() {
    std::int64_t begin = std::numeric_limits<std::int64_t>::max(), end = 0;
    for_each_received([&](const piece& p, const std::byte*) {
      begin = std::min(begin, p.offset);
      end = std::max(end, p.offset + p.bytes);
    });
    if (begin >= end) return 0;
    block_data_.clear();
    std::byte* const block = block_data_.append(static_cast<std::size_t>(end - begin));
    if (!have_no_gap(begin, end)) {
      if (file_.has_mode(MPI_MODE_WRONLY)) return write_one_by_one();
      const auto before = file_.descriptor()->read(block, end - begin, begin);
      if (before.error != 0) return before.error;
      std::fill(block + before.bytes, block + (end - begin), std::byte{0});  // behind its end
    }
    for_each_received([&](const piece& p, const std::byte* data) {
      std::memcpy(block + (p.offset - begin), data, static_cast<std::size_t>(p.bytes));
    });
    return file_.descriptor()->write(block, end - begin, begin).error;
  }

  [[nodiscard]] int write_one_by_one() const {
    int error = 0;
    for_each_received([&](const piece& p, const std::byte* data) {
      if (error == 0) error = file_.descriptor()->write(data, p.bytes, p.offset).error;
    });
    return error;
  }

  const files::access& mine_;
  file& file_;
  const files::view& view_;
  const std::size_t size_;
  const exchange_choice where_;
  std::int64_t domain_ = 0;  // bytes of the file that a process writes
  std::int64_t block_ = 0;   // and how many of them at a time
  reused_memory sent_, received_, block_data_;
  std::vector<std::int64_t> send_counts_, send_places_, counts_, places_;
};

}  // namespace

int choose_exchange(const files::access& mine, file& fh, exchange_choice& made) {
  made = {};
  if (!fh.exchanges_pieces || mine.atomic) return MPI_SUCCESS;
  const auto& seen = fh.view().data;
  extent_of_data own;
  if (const auto bytes = mine.memory.bytes(); bytes > 0) {
    own.begin = seen.offset_of(mine.position);
    own.end = seen.offset_of(mine.position + bytes - 1) + 1;
    const auto sample = std::min(bytes, seen.filetype->size());
    own.piece_bytes = sample / count_pieces(seen, mine.position, mine.position + sample);
  }
  std::vector<extent_of_data> all;
  if (!gather_values(fh.comm(), own, all)) return fail_process_lost(fh);
  std::erase_if(all, [](const extent_of_data& e) { return e.begin == e.end; });
  if (all.size() < 2) return MPI_SUCCESS;
  std::ranges::sort(all, {}, &extent_of_data::begin);
  std::int64_t behind = 0;
  bool small = true;
  for (const auto& each : all) {
    made.exchanges = made.exchanges || each.begin < behind;
    small = small && each.piece_bytes <= exchanged_bytes_max;
    behind = std::max(behind, each.end);
  }
  made.exchanges = made.exchanges && small;
  made.begin = all.front().begin / page * page;
  made.end = behind;
  return MPI_SUCCESS;
}

int write_exchanged(const files::access& mine, file& fh, const exchange_choice& where,
                    files::moved& how) try {
  exchange_of_pieces pieces(mine, fh, where);
  int error = 0;
  for (std::int64_t round = 0; round < pieces.rounds(); ++round)
    if (const int code = pieces.write_block(round, error)) return code;
  if (!first_error(fh.comm(), error)) return fail_process_lost(fh);
  how = {.bytes = error == 0 ? mine.memory.bytes() : 0, .error = error};
  return MPI_SUCCESS;
} catch (const std::bad_alloc&) {
  // The others wait for what this process cannot send.
  return fail_on(&fh, MPI_ERR_NO_MEM, "there is no memory for the exchange of a collective write");
}

}  // namespace headway::mpi
