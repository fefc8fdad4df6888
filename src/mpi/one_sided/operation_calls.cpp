#include "mpi/one_sided/operation_calls.hpp"

#include <utility>

#include "collectives/operators.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/one_sided/epochs.hpp"
#include "mpi/one_sided/traced_window.hpp"
#include "mpi/one_sided/window_request.hpp"
#include "windows/window.hpp"

namespace headway::mpi::calls {
namespace {

using datatypes::number;
using windows::local_data;
using windows::pending_ptr;
using windows::place;

[[nodiscard]] local_data data_at(const void* address, MPI_Count count, const datatype& type) {
  return {static_cast<std::byte*>(const_cast<void*>(address)), count, &type.layout()};
}

// What refuses is out of line: an operation on mapped memory takes some tens of nanoseconds.

[[gnu::cold, gnu::noinline]] int refuse_target_rank(window& win, int rank) {
  return fail(MPI_ERR_RANK, "argument target_rank is {}, but the window has {} processes", rank,
              win.memory().size());
}

[[gnu::cold, gnu::noinline]] int refuse_access(window& win, int rank, epoch_answer why) {
  if (why == epoch_answer::lost) return code_of(windows::status::lost, win);
  return fail(MPI_ERR_RMA_SYNC, "there is no epoch in which rank {} may be accessed", rank);
}

/// Whether the rank may be accessed now. An MPI error code.
[[nodiscard, gnu::always_inline]] inline int admit(window& win, int rank) {
  if (checks_on() && (rank < 0 || rank >= win.memory().size())) [[unlikely]]
    return refuse_target_rank(win, rank);
  const auto answer = win.epochs().admit(rank);
  return answer == epoch_answer::ok ? MPI_SUCCESS : refuse_access(win, rank, answer);
}

[[gnu::cold, gnu::noinline]] int refuse_sizes(std::int64_t origin, std::int64_t target) {
  return fail(MPI_ERR_ARG, "there are {} bytes at the origin, but {} at the target", origin,
              target);
}

[[nodiscard]] std::uint64_t bytes_of(const place& at) noexcept {
  return static_cast<std::uint64_t>(at.count * at.type->size());
}

[[gnu::cold, gnu::noinline]] int refuse_count(std::int64_t count, const datatypes::layout& type) {
  return fail(MPI_ERR_RMA_RANGE, "{} elements of {} bytes are more than any memory has", count,
              type.size());
}

[[nodiscard, gnu::always_inline]] inline int check_sizes(const local_data& origin,
                                                         const place& target) {
  std::int64_t here = 0, there = 0;
  if (__builtin_mul_overflow(target.count, target.type->size(), &there)) [[unlikely]]
    return refuse_count(target.count, *target.type);
  if (__builtin_mul_overflow(origin.count, origin.type->size(), &here)) [[unlikely]]
    return refuse_count(origin.count, *origin.type);
  return here == there ? MPI_SUCCESS : refuse_sizes(here, there);
}

[[gnu::cold, gnu::noinline]] int refuse_range(windows::status how, window& win, const place& at) {
  if (how != windows::status::out_of_range) return code_of(how, win);
  const auto& target = win.memory().at(at.rank);
  return fail(
      MPI_ERR_RMA_RANGE,
      "{} elements at displacement {} are not inside of the window of rank {}, which has {} "
      "bytes in units of {}",
      at.count, at.displacement, at.rank, target.bytes, target.displacement_unit);
}

[[gnu::cold, gnu::noinline]] int refuse_operation(const operation& op) {
  if (!op.predefined) return fail(MPI_ERR_OP, "{} is not a predefined operation", op.name);
  if (*op.predefined == collectives::operation::no_op)
    return fail(MPI_ERR_OP, "MPI_NO_OP is for operations that fetch");
  return fail(MPI_ERR_OP, "{} is not defined on the elements of the target's datatype", op.name);
}

[[gnu::cold, gnu::noinline]] int refuse_type(const char* why) {
  return fail(MPI_ERR_TYPE, "{}", why);
}

[[nodiscard]] inline int check_range(windows::status how, window& win, const place& at) {
  return how == windows::status::ok ? MPI_SUCCESS : refuse_range(how, win, at);
}

/// How elements of `target` are changed by such an operation. An MPI error code.
[[nodiscard]] int find_change(const operation& op, const place& target, windows::change& found) {
  if (!op.predefined) [[unlikely]]
    return refuse_operation(op);
  const bool moves = *op.predefined == collectives::operation::replace ||
                     *op.predefined == collectives::operation::no_op;
  found = {.what = *op.predefined, .kind = target.type->element_kind()};
  if (target.count == 0 || target.type->size() == 0) return MPI_SUCCESS;  // nothing is changed
  if (found.kind == number::none && moves) found.kind = number::byte;  // elements of several kinds
  if (found.kind == number::none) [[unlikely]]
    return refuse_type("the target's datatype has elements of several kinds");
  if (!collectives::predefined(found.what, found.kind)) [[unlikely]]
    return refuse_operation(op);
  return MPI_SUCCESS;
}

[[nodiscard]] int check_kind(const local_data& data, const windows::change& how) {
  if (how.kind == number::byte || data.type->size() == 0 || data.type->element_kind() == how.kind)
    return MPI_SUCCESS;
  return refuse_type("the elements of origin and target are of different kinds");
}

[[nodiscard]] int put(window& win, const local_data& from, const place& to, pending_ptr& left) {
  if (const int code = admit(win, to.rank)) return code;
  if (const int code = check_sizes(from, to)) return code;
  trace_access(win, to.rank, bytes_of(to));
  return check_range(win.memory().put(from, to, left), win, to);
}

[[nodiscard]] int get(window& win, const local_data& to, const place& from, pending_ptr& left) {
  if (const int code = admit(win, from.rank)) return code;
  if (const int code = check_sizes(to, from)) return code;
  trace_access(win, from.rank, bytes_of(from));
  return check_range(win.memory().get(to, from, left), win, from);
}

[[nodiscard]] bool has_form_of(const place& target, const local_data& data) noexcept {
  return data.type == target.type && data.count == target.count;
}

/// Of data that does not have the form of the target. An MPI error code.
[[nodiscard, gnu::noinline]] int check_operands(const local_data& operand, const local_data* before,
                                                const place& at, const windows::change& how) {
  if (how.what != collectives::operation::no_op) {
    if (const int code = check_sizes(operand, at)) return code;
    if (const int code = check_kind(operand, how)) return code;
  }
  if (before == nullptr) return MPI_SUCCESS;
  if (const int code = check_sizes(*before, at)) return code;
  return check_kind(*before, how);
}

/// `before` null: nothing is fetched.
[[nodiscard]] int change(window& win, const local_data& operand, const local_data* before,
                         const place& at, const operation& op, pending_ptr& left) {
  if (const int code = admit(win, at.rank)) return code;
  windows::change how;
  if (const int code = find_change(op, at, how)) return code;
  if (before == nullptr && how.what == collectives::operation::no_op) return refuse_operation(op);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(at.count, at.type->size(), &bytes)) [[unlikely]]
    return refuse_count(at.count, *at.type);
  if (!has_form_of(at, operand) || (before != nullptr && !has_form_of(at, *before)))
    if (const int code = check_operands(operand, before, at, how)) return code;
  trace_access(win, at.rank, bytes_of(at));
  return check_range(win.memory().update(operand, before, at, how, left), win, at);
}

/// An operation whose end only the next synchronisation reports.
template <class Begin>
[[nodiscard]] int begin(int rank, Begin start) {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  pending_ptr left;
  return start(left);
}

/// The same with a request.
template <class Begin>
[[nodiscard]] int begin(int rank, window& win, request*& r, Begin start) {
  pending_ptr left;
  if (rank != MPI_PROC_NULL)
    if (const int code = start(left)) return code;
  r = pool<window_request>::all().make(win, std::move(left));
  return MPI_SUCCESS;
}

}  // namespace

int put(const void* origin_addr, MPI_Count origin_count, datatype& origin_datatype, int target_rank,
        MPI_Aint target_disp, MPI_Count target_count, datatype& target_datatype, window& win) {
  return begin(target_rank, [&](pending_ptr& left) {
    return put(win, data_at(origin_addr, origin_count, origin_datatype),
               {target_rank, target_disp, target_count, &target_datatype.layout()}, left);
  });
}

int rput(const void* origin_addr, MPI_Count origin_count, datatype& origin_datatype,
         int target_rank, MPI_Aint target_disp, MPI_Count target_count, datatype& target_datatype,
         window& win, request*& r) {
  return begin(target_rank, win, r, [&](pending_ptr& left) {
    return put(win, data_at(origin_addr, origin_count, origin_datatype),
               {target_rank, target_disp, target_count, &target_datatype.layout()}, left);
  });
}

int get(void* origin_addr, MPI_Count origin_count, datatype& origin_datatype, int target_rank,
        MPI_Aint target_disp, MPI_Count target_count, datatype& target_datatype, window& win) {
  return begin(target_rank, [&](pending_ptr& left) {
    return get(win, data_at(origin_addr, origin_count, origin_datatype),
               {target_rank, target_disp, target_count, &target_datatype.layout()}, left);
  });
}

int rget(void* origin_addr, MPI_Count origin_count, datatype& origin_datatype, int target_rank,
         MPI_Aint target_disp, MPI_Count target_count, datatype& target_datatype, window& win,
         request*& r) {
  return begin(target_rank, win, r, [&](pending_ptr& left) {
    return get(win, data_at(origin_addr, origin_count, origin_datatype),
               {target_rank, target_disp, target_count, &target_datatype.layout()}, left);
  });
}

int accumulate(const void* origin_addr, MPI_Count origin_count, datatype& origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               datatype& target_datatype, operation& op, window& win) {
  return begin(target_rank, [&](pending_ptr& left) {
    return change(win, data_at(origin_addr, origin_count, origin_datatype), nullptr,
                  {target_rank, target_disp, target_count, &target_datatype.layout()}, op, left);
  });
}

int raccumulate(const void* origin_addr, MPI_Count origin_count, datatype& origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                datatype& target_datatype, operation& op, window& win, request*& r) {
  return begin(target_rank, win, r, [&](pending_ptr& left) {
    return change(win, data_at(origin_addr, origin_count, origin_datatype), nullptr,
                  {target_rank, target_disp, target_count, &target_datatype.layout()}, op, left);
  });
}

int get_accumulate(const void* origin_addr, MPI_Count origin_count, datatype& origin_datatype,
                   void* result_addr, MPI_Count result_count, datatype& result_datatype,
                   int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                   datatype& target_datatype, operation& op, window& win) {
  return begin(target_rank, [&](pending_ptr& left) {
    const auto before = data_at(result_addr, result_count, result_datatype);
    return change(win, data_at(origin_addr, origin_count, origin_datatype), &before,
                  {target_rank, target_disp, target_count, &target_datatype.layout()}, op, left);
  });
}

int rget_accumulate(const void* origin_addr, MPI_Count origin_count, datatype& origin_datatype,
                    void* result_addr, MPI_Count result_count, datatype& result_datatype,
                    int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                    datatype& target_datatype, operation& op, window& win, request*& r) {
  return begin(target_rank, win, r, [&](pending_ptr& left) {
    const auto before = data_at(result_addr, result_count, result_datatype);
    return change(win, data_at(origin_addr, origin_count, origin_datatype), &before,
                  {target_rank, target_disp, target_count, &target_datatype.layout()}, op, left);
  });
}

int fetch_and_op(const void* origin_addr, void* result_addr, datatype& type, int target_rank,
                 MPI_Aint target_disp, operation& op, window& win) {
  if (type.layout().kind() == number::none)
    return fail(MPI_ERR_TYPE, "the datatype is not predefined");
  return begin(target_rank, [&](pending_ptr& left) {
    const auto before = data_at(result_addr, 1, type);
    return change(win, data_at(origin_addr, 1, type), &before,
                  {target_rank, target_disp, 1, &type.layout()}, op, left);
  });
}

int compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
                     datatype& type, int target_rank, MPI_Aint target_disp, window& win) {
  const auto kind = type.layout().kind();
  const bool is_exact = (kind >= number::int8 && kind <= number::c_unsigned_long) ||
                        (kind >= number::bool8 && kind <= number::text8);
  if (!is_exact)
    return fail(MPI_ERR_TYPE, "the datatype is no integer, logical, byte or character type");
  if (target_rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (const int code = admit(win, target_rank)) return code;
  const place at{target_rank, target_disp, 1, &type.layout()};
  trace_access(win, at.rank, bytes_of(at));
  return check_range(win.memory().compare_and_swap(static_cast<const std::byte*>(origin_addr),
                                                   static_cast<const std::byte*>(compare_addr),
                                                   static_cast<std::byte*>(result_addr), at),
                     win, at);
}

}  // namespace headway::mpi::calls
