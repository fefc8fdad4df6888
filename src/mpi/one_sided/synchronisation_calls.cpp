#include "mpi/one_sided/synchronisation_calls.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "mpi/collectives/collective_calls.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/one_sided/epochs.hpp"
#include "mpi/one_sided/traced_window.hpp"
#include "windows/window.hpp"

namespace headway::mpi::calls {
namespace {

using windows::status;
using signal = report::traced_message::sort;

constexpr int all_ranks = -1;  // as traced_window.hpp has it

[[gnu::cold, gnu::noinline]] int refuse(epoch_answer answer, const window& win,
                                        std::string_view why) {
  if (answer == epoch_answer::refused) return fail(MPI_ERR_RMA_SYNC, "{}", why);
  return mpi::code_of(status::lost, win);
}

[[nodiscard]] inline int code_of(epoch_answer answer, const window& win, std::string_view why,
                                 status how = status::ok) {
  if (answer != epoch_answer::ok) [[unlikely]]
    return refuse(answer, win, why);
  return how == status::ok ? MPI_SUCCESS : mpi::code_of(how, win);
}

[[gnu::cold, gnu::noinline]] int refuse_rank(window& win, int rank) {
  return fail(MPI_ERR_RANK, "argument rank is {}, but the window has {} processes", rank,
              win.memory().size());
}

[[nodiscard]] inline int check_rank(window& win, int rank) {
  return rank >= 0 && rank < win.memory().size() ? MPI_SUCCESS : refuse_rank(win, rank);
}

[[nodiscard]] int check_assertions(int given, int known) {
  if ((given & ~known) == 0) return MPI_SUCCESS;
  return fail(MPI_ERR_ASSERT, "argument assert is {}, which has bits that the call does not know",
              given);
}

/// The ranks of a group's processes in the window. An MPI error code.
[[nodiscard]] int ranks_of(const group& some, const window& win, std::vector<int>& ranks) {
  for (const auto process : some.members().peers()) {
    const auto rank = win.comm().members().rank_of(process);
    if (!rank) return fail(MPI_ERR_GROUP, "the group has a process that is not in the window");
    ranks.push_back(*rank);
  }
  return MPI_SUCCESS;
}

[[gnu::cold, gnu::noinline]] int refuse_flush(int rank) {
  return fail(MPI_ERR_RMA_SYNC, "rank {} is not locked", rank);
}

[[nodiscard, gnu::always_inline]] inline int check_passive(window& win, int rank) {
  if (const int code = check_rank(win, rank)) return code;
  return win.epochs().is_passive(rank) ? MPI_SUCCESS : refuse_flush(rank);
}

[[nodiscard]] int check_passive_all(window& win) {
  bool any = win.epochs().has_all();
  for (int rank = 0; !any && rank < win.memory().size(); ++rank)
    any = win.epochs().is_passive(rank);
  return any ? MPI_SUCCESS : fail(MPI_ERR_RMA_SYNC, "no rank of the window is locked");
}

/// Returns when all processes of the window are here.
[[nodiscard]] status meet(window& win) {
  if (auto* const signals = win.memory().signals(); signals != nullptr && signals->reach_all()) {
    const recorded_collective recorded(win.comm(), {.waits = report::dependence::on_all});
    windows::window::publish_memory();
    const auto met = signals->meet();
    windows::window::take_in_memory();
    return met;
  }
  windows::window::synchronise_memory();
  const bool met = run_collective(win.comm(), barrier{}) == MPI_SUCCESS;
  windows::window::synchronise_memory();
  return met ? status::ok : status::lost;
}

}  // namespace

int win_fence(int assert, window& win) {
  trace_access(win, all_ranks);
  if (const int code = check_assertions(
          assert, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED))
    return code;
  if (!win.epochs().fence((assert& MPI_MODE_NOSUCCEED) == 0))
    return fail(MPI_ERR_RMA_SYNC, "there are locks or other epochs");
  return win.attached().synchronise(attached_operations::all_ranks, [&] {
    const auto flushed = (assert& MPI_MODE_NOPRECEDE) ? status::ok : win.memory().complete_all();
    return mpi::code_of(std::max(flushed, meet(win)), win);
  });
}

int win_start(group& targets, int assert, window& win) {
  if (const int code = check_assertions(assert, MPI_MODE_NOCHECK)) return code;
  std::vector<int> ranks;
  if (const int code = ranks_of(targets, win, ranks)) return code;
  const auto answer = win.epochs().start(std::move(ranks), (assert& MPI_MODE_NOCHECK) == 0);
  if (answer == epoch_answer::ok) trace_signals(win, signal::post, win.epochs().started(), true);
  return code_of(answer, win, "an epoch of locks or of MPI_Win_start has not ended");
}

int win_complete(window& win) {
  trace_signals(win, signal::complete, win.epochs().started(), false);
  return win.attached().synchronise(attached_operations::all_ranks, [&] {
    auto how = status::ok;
    const auto answer = win.epochs().complete(how);
    return code_of(answer, win, "no epoch was begun by MPI_Win_start", how);
  });
}

int win_post(group& origins, int assert, window& win) {
  if (const int code =
          check_assertions(assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT))
    return code;
  std::vector<int> ranks;
  if (const int code = ranks_of(origins, win, ranks)) return code;
  trace_signals(win, signal::post, ranks, false);
  return code_of(win.epochs().post(std::move(ranks), (assert& MPI_MODE_NOCHECK) == 0), win,
                 "an epoch of MPI_Win_post has not ended");
}

int win_wait(window& win) {
  const auto answer = win.epochs().wait();
  if (answer == epoch_answer::ok) trace_signals(win, signal::complete, win.epochs().posted(), true);
  return code_of(answer, win, "no epoch was begun by MPI_Win_post");
}

int win_test(window& win, int& flag) {
  bool is_over = false;
  const auto answer = win.epochs().test(is_over);
  if (is_over && answer == epoch_answer::ok)
    trace_signals(win, signal::complete, win.epochs().posted(), true);
  flag = is_over;
  return code_of(answer, win, "no epoch was begun by MPI_Win_post");
}

int win_lock(int lock_type, int rank, int assert, window& win) {
  if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)
    return fail(MPI_ERR_LOCKTYPE, "argument lock_type is {}", lock_type);
  if (const int code = check_assertions(assert, MPI_MODE_NOCHECK)) return code;
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (const int code = check_rank(win, rank)) return code;
  trace_access(win, rank);
  const auto how =
      lock_type == MPI_LOCK_SHARED ? windows::lock_type::shared : windows::lock_type::exclusive;
  return code_of(win.epochs().lock(rank, how, (assert& MPI_MODE_NOCHECK) == 0), win,
                 "there is an epoch in which the rank is accessed");
}

int win_lock_all(int assert, window& win) {
  trace_access(win, all_ranks);
  if (const int code = check_assertions(assert, MPI_MODE_NOCHECK)) return code;
  return code_of(win.epochs().lock_all((assert& MPI_MODE_NOCHECK) == 0), win,
                 "there are locks or other epochs");
}

int win_unlock(int rank, window& win) {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  trace_access(win, rank);
  if (const int code = check_rank(win, rank)) return code;
  return win.attached().synchronise(rank, [&] {
    auto how = status::ok;
    const auto answer = win.epochs().unlock(rank, how);
    return code_of(answer, win, "the rank is not locked by MPI_Win_lock", how);
  });
}

int win_unlock_all(window& win) {
  trace_access(win, all_ranks);
  return win.attached().synchronise(attached_operations::all_ranks, [&] {
    auto how = status::ok;
    const auto answer = win.epochs().unlock_all(how);
    return code_of(answer, win, "MPI_Win_lock_all was not called", how);
  });
}

int win_flush(int rank, window& win) {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  trace_access(win, rank);
  if (const int code = check_passive(win, rank)) return code;
  return win.attached().synchronise(rank,
                                    [&] { return mpi::code_of(win.memory().flush(rank), win); });
}

int win_flush_all(window& win) {
  trace_access(win, all_ranks);
  if (const int code = check_passive_all(win)) return code;
  return win.attached().synchronise(attached_operations::all_ranks,
                                    [&] { return mpi::code_of(win.memory().flush_all(), win); });
}

int win_flush_local(int rank, window& win) {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  trace_access(win, rank);
  if (const int code = check_passive(win, rank)) return code;
  return win.attached().synchronise(
      rank, [&] { return mpi::code_of(win.memory().flush_local(rank), win); });
}

int win_flush_local_all(window& win) {
  trace_access(win, all_ranks);
  if (const int code = check_passive_all(win)) return code;
  return win.attached().synchronise(attached_operations::all_ranks, [&] {
    return mpi::code_of(win.memory().flush_local_all(), win);
  });
}

int win_sync(window&) {
  windows::window::synchronise_memory();
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
