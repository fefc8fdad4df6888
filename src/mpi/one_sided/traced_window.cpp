#include "mpi/one_sided/traced_window.hpp"

#include "base/clock.hpp"
#include "mpi/point_to_point/recorded_messages.hpp"

namespace headway::mpi::detail {
namespace {

/// `present_timeline`, with the name of the window.
report::call_timeline* timeline_for(const window& win) {
  auto* const found = present_timeline();
  if (found) found->name_context(win.comm().id(), win.name);
  return found;
}

}  // namespace

void trace_access(const window& win, int rank, std::uint64_t bytes) {
  if (auto* const timeline = timeline_for(win))
    timeline->note({.window = win.comm().id(), .peer = rank, .bytes = bytes});
}

void trace_signals(const window& win, report::traced_message::sort what, std::span<const int> ranks,
                   bool receives) {
  auto* const timeline = timeline_for(win);
  if (timeline == nullptr) return;
  const auto at_ns = receives ? base::machine_now_ns() : report::own_record().call_began_ns();
  for (const int rank : ranks)
    timeline->note_signal({.what = what,
                           .context = win.comm().id(),
                           .partner = job_rank(win.comm(), rank),
                           .peer = rank,
                           .receives = receives,
                           .posted_ns = at_ns,
                           .noted_ns = at_ns,
                           .noted_by = timeline->thread()});
}

}  // namespace headway::mpi::detail
