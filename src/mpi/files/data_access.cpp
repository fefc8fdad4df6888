#include "mpi/files/data_access.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "mpi/communicators/creation.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/files/exchanged_write.hpp"
#include "mpi/files/file_request.hpp"
#include "mpi/files/shared_pointer.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/objects/status.hpp"
#include "mpi/point_to_point/waiting.hpp"

namespace headway::mpi {
namespace {

using datatypes::number;
using files::access;
using files::direction;
using files::moved;

[[nodiscard]] int check(const file& fh, direction way, const access_memory& memory,
                        std::int64_t& bytes) {
  if (way == direction::reading && fh.has_mode(MPI_MODE_WRONLY))
    return fail(MPI_ERR_ACCESS, "the file was opened for writing alone");
  if (way == direction::writing && fh.has_mode(MPI_MODE_RDONLY))
    return fail(MPI_ERR_READ_ONLY, "the file was opened for reading alone");
  if (__builtin_mul_overflow(memory.count, memory.type.layout().size(), &bytes))
    return fail(MPI_ERR_COUNT, "64 bits do not hold the bytes of {} elements", memory.count);
  const auto unit = fh.view().data.etype_bytes;
  if (bytes % unit != 0)
    return fail(MPI_ERR_ARG, "the data has {} bytes, which are no multiple of the etype's {}",
                bytes, unit);
  if (!fh.view().form.is_native() && !fh.view().form.keeps_lengths_of(memory.type))
    return fail(MPI_ERR_CONVERSION,
                "elements of the type have other lengths in the representation '{}'",
                fh.view().form.name());
  return MPI_SUCCESS;
}

/// The accesses of all processes lie behind each other, in the order of their ranks.
[[nodiscard]] int ordered_position(file& fh, std::int64_t bytes, std::int64_t& position) {
  std::vector<std::int64_t> all;
  auto& comm = fh.comm();
  if (!gather_values(comm, bytes, all)) return fail_process_lost(fh);
  std::int64_t begin = 0;
  if (comm.rank() == 0) {
    const auto sum = std::accumulate(all.begin(), all.end(), std::int64_t{0});
    if (const int code = fh.pointer().advance(sum, begin)) return code;
  }
  const auto before = std::accumulate(all.begin(), all.begin() + comm.rank(), std::int64_t{0});
  if (!gather_values(comm, begin, all)) return fail_process_lost(fh);
  position = all.front() + before;
  return MPI_SUCCESS;
}

[[nodiscard]] int begin_position(file& fh, const access_place& where, std::int64_t bytes,
                                 std::int64_t& position) {
  const bool is_shared =
      where.pointer == file_pointer::shared || where.pointer == file_pointer::ordered;
  if (!is_shared)
    if (const int code = refuse_sequential(fh)) return code;
  switch (where.pointer) {
    case file_pointer::explicit_offset:
      return explicit_position(fh, where.offset, position);
    case file_pointer::individual:
      position = fh.advance(bytes);
      return MPI_SUCCESS;
    case file_pointer::shared:
      return fh.pointer().advance(bytes, position);
    case file_pointer::ordered:
      return ordered_position(fh, bytes, position);
  }
  return MPI_ERR_INTERN;
}

/// Checks the arguments, and moves the pointer.
[[nodiscard]] int prepare(file& fh, direction way, const access_place& where,
                          const access_memory& memory, access& made) {
  std::int64_t bytes = 0, position = 0;
  if (const int code = check(fh, way, memory, bytes)) return code;
  if (const int code = begin_position(fh, where, bytes, position)) return code;
  made = {.way = way,
          .position = position,
          .memory = {.buffer = static_cast<std::byte*>(memory.buffer),
                     .type = memory.type.shared_layout(),
                     .count = memory.count},
          .atomic = fh.atomic};
  return MPI_SUCCESS;
}

/// Where elements are not in the file as in memory.
[[nodiscard]] int carry_out_converted(file& fh, const access& what, datatype& type, moved& how) {
  const auto& form = fh.view().form;
  std::vector<std::byte> bytes(static_cast<std::size_t>(what.memory.bytes()));
  if (what.way == direction::writing)
    if (const int code = form.to_file(what.memory.buffer, what.memory.count, type, bytes.data()))
      return code;
  auto plain = what;
  plain.memory = {.buffer = bytes.data(),
                  .type = datatypes::layout::of(number::byte),
                  .count = what.memory.bytes()};
  how = carry_out(plain, fh);
  if (what.way == direction::writing || how.bytes == 0) return MPI_SUCCESS;
  return form.from_file(bytes.data(), how.bytes, what.memory.count, type, what.memory.buffer);
}

/// With the other processes, if that is quicker.
[[nodiscard]] int carry_out(const access& what, file& fh, bool collective, moved& how) {
  exchange_choice choice;
  if (collective && what.way == direction::writing)
    if (const int code = choose_exchange(what, fh, choice)) return code;
  if (choice.exchanges) return write_exchanged(what, fh, choice, how);
  how = carry_out(what, fh);
  return MPI_SUCCESS;
}

void set_moved(MPI_Status* status, const moved& how) {
  if (status == MPI_STATUS_IGNORE) return;
  set_status(*status, MPI_ANY_SOURCE, MPI_ANY_TAG, how.bytes);
}

/// A request whose access a helper thread carries out, or, where elements are converted, one that
/// has ended.
[[nodiscard]] int make_request(file& fh, direction way, const access_place& where,
                               const access_memory& memory, file_request*& made) {
  access what;
  if (const int code = prepare(fh, way, where, memory, what)) return code;
  if (fh.view().form.is_native()) {
    made = pool<file_request>::all().make(fh, what);
    made->begin();
    return MPI_SUCCESS;
  }
  moved how;
  if (const int code = carry_out_converted(fh, what, memory.type, how)) return code;
  made = pool<file_request>::all().make(fh, what, how);
  return MPI_SUCCESS;
}

}  // namespace

int explicit_position(const file& fh, MPI_Offset offset, std::int64_t& position) {
  if (offset < 0) return fail(MPI_ERR_ARG, "the offset is {}", offset);
  if (__builtin_mul_overflow(offset, fh.view().data.etype_bytes, &position))
    return fail(MPI_ERR_ARG, "64 bits do not hold the bytes in front of the offset {}", offset);
  return MPI_SUCCESS;
}

int refuse_sequential(const file& fh) {
  if (!fh.has_mode(MPI_MODE_SEQUENTIAL)) return MPI_SUCCESS;
  return fail(MPI_ERR_UNSUPPORTED_OPERATION, "the file was opened with MPI_MODE_SEQUENTIAL");
}

int access_now(file& fh, direction way, const access_place& where, const access_memory& memory,
               MPI_Status* status) {
  access what;
  if (const int code = prepare(fh, way, where, memory, what)) {
    if (!where.collective || !fh.view().form.is_native()) return code;
    // The other processes may exchange pieces: with none of this one.
    const failure why = last_failure();
    moved nothing;
    const access empty{.way = way, .memory = {.type = datatypes::layout::of(number::byte)}};
    if (const int lost = carry_out(empty, fh, true, nothing)) return lost;
    return fail_on(why.owner, why.code, why.text);
  }
  moved how;
  if (!fh.view().form.is_native()) {
    if (const int code = carry_out_converted(fh, what, memory.type, how)) return code;
  } else if (const int code = carry_out(what, fh, where.collective, how)) {
    return code;
  }
  set_moved(status, how);
  return code_of(what, how, fh);
}

int begin_access(file& fh, direction way, const access_place& where, const access_memory& memory,
                 request*& r) {
  file_request* made = nullptr;
  if (const int code = make_request(fh, way, where, memory, made)) return code;
  r = made;
  return MPI_SUCCESS;
}

int begin_split(file& fh, direction way, const access_place& where, const access_memory& memory,
                std::string_view ending) {
  if (fh.split != nullptr)
    return fail(MPI_ERR_OTHER, "a split collective access has begun that {} ends",
                fh.ending_of_split);
  if (const int code = make_request(fh, way, where, memory, fh.split)) return code;
  fh.ending_of_split = ending;
  return MPI_SUCCESS;
}

int end_split(file& fh, std::string_view ending, MPI_Status* status) {
  if (fh.split == nullptr)
    return fail(MPI_ERR_OTHER, "no split collective access has begun on the file");
  if (fh.ending_of_split != ending)
    return fail(MPI_ERR_OTHER, "the split collective access that has begun is ended by {}",
                fh.ending_of_split);
  auto* const ended = std::exchange(fh.split, nullptr);
  wait_for(*ended);
  request* r = ended;
  return conclude(r, status);
}

int sought(const file& fh, MPI_Offset offset, int whence, std::int64_t now,
           std::int64_t& position) {
  const auto unit = fh.view().data.etype_bytes;
  std::int64_t from = 0;  // in etypes
  if (whence == MPI_SEEK_CUR) {
    from = now / unit;
  } else if (whence == MPI_SEEK_END) {
    const auto size = fh.descriptor()->size();
    if (!size) return fail_errno(fh, "the size of " + fh.path(), size.error());
    from = (fh.view().data.position_of(*size) + unit - 1) / unit;
  } else if (whence != MPI_SEEK_SET) {
    return fail(MPI_ERR_ARG, "whence is {}", whence);
  }
  if (__builtin_add_overflow(from, offset, &position) ||
      __builtin_mul_overflow(position, unit, &position) || position < 0)
    return fail(MPI_ERR_ARG, "the new position is negative, or 64 bits do not hold it");
  return MPI_SUCCESS;
}

}  // namespace headway::mpi
