#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/part.hpp"

namespace headway::report {

/// A number of each rank: its sum, its least and greatest value, and their ranks.
struct spread {
  double sum = 0, least = 0, median = 0, greatest = 0;
  std::uint32_t least_rank = 0, greatest_rank = 0;
};
struct rank_value {
  std::uint32_t rank;
  double value;
};
[[nodiscard]] spread spread_of(std::vector<rank_value> values);

/// The calls of one function from one place, by all ranks.
struct call_total {
  std::string function = {}, place = {};
  bool counts_waits = true;  ///< false: `sums.waited` is 0 whatever the calls waited for
  bool sampled = false;      ///< the time of some calls is an estimate
  call_sums sums = {};
  double total_s = 0;
  std::uint32_t ranks = 0;         ///< that call from here
  std::uint32_t longest_rank = 0;  ///< of the longest call
  overlap_sums started = {};
};

/// The calls of one function by all ranks.
struct function_total {
  std::string function = {};
  std::uint64_t calls = 0, messages = 0, bytes = 0;
  spread seconds = {};
  bool sampled = false;  ///< the time of some calls is an estimate
};

/// Which rank waited for which other one, in seconds.
struct pair_total {
  std::uint32_t waiting = 0, awaited = 0;
  double late_sender_s = 0, late_receiver_s = 0, collective_s = 0;
  std::uint64_t late_sender = 0, late_receiver = 0, collective = 0;  ///< how often
  [[nodiscard]] double all_s() const noexcept {
    return late_sender_s + late_receiver_s + collective_s;
  }
};

/// Messages from one rank to another.
struct traffic_total {
  std::uint32_t from = 0, to = 0;
  std::uint64_t messages = 0, bytes = 0;
};

/// A counter over the ranks that have it.
struct counter_total {
  std::string name = {};
  spread over_ranks = {};
};

/// How much of the job's collective calls the attribution covers.
struct collective_coverage {
  std::uint64_t calls = 0;          ///< blocking ones, counted once for all members
  std::uint64_t compared = 0;       ///< in which the members' times of arrival were compared
  std::uint64_t between_nodes = 0;  ///< not compared: no common clock
};

/// The whole job's communication.
struct summary {
  std::uint32_t size = 1;
  std::vector<std::uint32_t> missing = {};  ///< ranks that reported nothing
  std::string ended_early = {};             ///< why the job ended before MPI_Finalize; else empty
  double seconds = 0;                       ///< from the first rank's start to the last one's end
  spread mpi_seconds = {};                  ///< in calls of MPI, by all threads of a rank
  std::vector<part> ranks = {};             ///< without calls and lists of waits
  std::vector<function_total> functions = {};  ///< longest first
  std::vector<call_total> calls = {};          ///< longest first
  std::vector<pair_total> waits = {};          ///< longest first
  std::vector<traffic_total> traffic = {};
  std::vector<counter_total> counters = {};  ///< in the order of the tables
  size_counts sizes_sent = {};
  overlap_sums overlap = {};
  collective_coverage collectives = {};
  std::uint64_t waits_dropped = 0;
  std::vector<std::string> advice = {};  ///< three sentences
};

/// Puts the parts of a job together. Call sites that are the same place of the same program become
/// one, with the names that `names_of` (site_names.hpp) finds.
[[nodiscard]] summary merge(std::vector<part> parts, std::uint32_t size);

/// Three sentences that follow from the numbers, the most important first.
[[nodiscard]] std::vector<std::string> advice_on(const summary& job);

}  // namespace headway::report
