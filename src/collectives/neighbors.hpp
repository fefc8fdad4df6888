#pragma once

#include "collectives/buffers.hpp"
#include "collectives/neighborhood.hpp"
#include "collectives/schedule.hpp"
#include "collectives/team.hpp"

namespace headway::collectives {

// Collectives between neighbours (MPI-5.0 section 8.6): a rank waits for its neighbours only. Used
// like those of collectives.hpp.

/// `mine` goes to every destination; block i of `all` comes from source i.
void neighbor_allgather(schedule& s, const team& t, const neighborhood& n, const block& mine,
                        const blocks& all);
/// The same for blocks of different lengths.
void neighbor_allgatherv(schedule& s, const team& t, const neighborhood& n, const block& mine,
                         const blocks& all);
/// Block i of `from` goes to destination i, block i of `to` comes from source i.
void neighbor_alltoall(schedule& s, const team& t, const neighborhood& n, const blocks& from,
                       const blocks& to);
/// The same for blocks of different lengths or types.
void neighbor_alltoallv(schedule& s, const team& t, const neighborhood& n, const blocks& from,
                        const blocks& to);

// Blocking calls without a schedule, for blocks that are plain bytes and so few that the streams of
// all sources lie in their lines (shared_banks). True: it has ended. False: a schedule is needed,
// which goes on with what was begun: a rank is late, has blocks of another length, or is lost.
[[nodiscard]] bool neighbor_allgather_in_lines(team& t, const neighborhood& n, const block& mine,
                                               const blocks& all);
[[nodiscard]] bool neighbor_alltoall_in_lines(team& t, const neighborhood& n, const blocks& from,
                                              const blocks& to);

}  // namespace headway::collectives
