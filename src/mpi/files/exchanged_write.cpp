#include "mpi/files/exchanged_write.hpp"

#include <algorithm>
#include <cerrno>
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
  std::int64_t count = 0, behind = -1;
  seen.for_each_block(begin, end, [&](std::int64_t at, std::int64_t bytes) {
    count += at != behind;
    behind = at + bytes;
  });
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
    piece last{.offset = -1, .bytes = 0};
    const auto put = [&] {
      std::memcpy(to, &last, sizeof last);
      to += sizeof last;
    };
    view_.for_each_block(begin, end, [&](std::int64_t offset, std::int64_t bytes) {
      if (last.offset >= 0 && last.offset + last.bytes == offset) {
        last.bytes += bytes;
        return;
      }
      if (last.offset >= 0) put();
      last = {offset, bytes};
    });
    put();
    mine_.memory.type->pack(mine_.memory.buffer, mine_.memory.count, first, behind, to);
  }

  /// Calls `each(piece, data)` for all pieces that have come, in the order of the ranks.
  template <class Each>
  void for_each_received(Each&& each) const {
    for (std::size_t from = 0; from < size_; ++from) {
      if (counts_[from] == 0) continue;
      const auto* at = received_.data() + places_[from];
      std::int64_t count = 0;
      std::memcpy(&count, at, sizeof count);
      const auto* list = at + sizeof count;
      const auto* data = list + static_cast<std::size_t>(count) * sizeof(piece);
      for (std::int64_t i = 0; i < count; ++i, list += sizeof(piece)) {
        piece p{};
        std::memcpy(&p, list, sizeof p);
        each(p, data);
        data += p.bytes;
      }
    }
  }

  [[nodiscard]] int write_received() {
    std::int64_t begin = std::numeric_limits<std::int64_t>::max(), end = 0, bytes = 0;
    for_each_received([&](const piece& p, const std::byte*) {
      begin = std::min(begin, p.offset);
      end = std::max(end, p.offset + p.bytes);
      bytes += p.bytes;
    });
    if (bytes == 0) return 0;
    block_data_.clear();
    std::byte* const block = block_data_.append(static_cast<std::size_t>(end - begin));
    if (bytes < end - begin) {
      const auto before = file_.descriptor()->read(block, end - begin, begin);
      if (before.error == EBADF) return write_one_by_one();  // opened for writing alone
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
  std::vector<int> errors;
  if (!gather_values(fh.comm(), error, errors)) return fail_process_lost(fh);
  const auto failed = std::ranges::find_if(errors, [](int each) { return each != 0; });
  how = {.bytes = failed == errors.end() ? mine.memory.bytes() : 0,
         .error = failed == errors.end() ? 0 : *failed};
  return MPI_SUCCESS;
} catch (const std::bad_alloc&) {
  // The others wait for what this process cannot send.
  return fail_on(&fh, MPI_ERR_NO_MEM, "there is no memory for the exchange of a collective write");
}

}  // namespace headway::mpi
