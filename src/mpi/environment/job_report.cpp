#include "mpi/environment/job_report.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/log.hpp"
#include "base/once_a_job.hpp"
#include "messages/numbers.hpp"
#include "mpi/abi/recording_hooks.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/environment/library.hpp"
#include "report/call_timeline.hpp"
#include "report/merge.hpp"
#include "report/page.hpp"
#include "report/recorder.hpp"
#include "report/summary_text.hpp"
#include "report/this_process.hpp"
#include "runtime/counters.hpp"

namespace headway::mpi {
namespace {

report::settings in_force;

/// Adds what this module knows and the recorder does not.
void describe(report::part& own) {
  auto& runtime = *the_library.runtime;
  own.rank = static_cast<std::uint32_t>(runtime.rank());
  own.size = static_cast<std::uint32_t>(runtime.size());
  own.node = static_cast<std::uint32_t>(runtime.node_of(this_process()));
  report::describe_this_process(own);
  if (in_force.summary)
    for (auto& counter : runtime::object_counters(runtime))
      own.counters.push_back({std::move(counter.name), counter.value});
  for (const auto& peer : own.peers) {
    if (peer.sent == 0) continue;
    const auto name = runtime.rail_to(processes::peer_id{peer.rank});
    auto rail = std::ranges::find(own.rails, name, &report::rail_row::name);
    if (rail == own.rails.end()) rail = own.rails.insert(rail, {.name = name});
    ++rail->peers;
    rail->messages_sent += peer.sent;
    rail->bytes_sent += peer.bytes_sent;
  }
}

[[nodiscard]] bool send(std::span<const std::byte> bytes, int to) {
  messages::request r;
  exchange().send(the_library.job->messages(), r, bytes, to, messages::report_tag);
  engine().wait(r);
  return r.arrived.how == messages::outcome::ok;
}

[[nodiscard]] bool receive(std::span<std::byte> into, int from) {
  messages::request r;
  exchange().receive(the_library.job->messages(), r, into, from, messages::report_tag);
  engine().wait(r);
  return r.arrived.how == messages::outcome::ok;
}

void send_part(const report::part& own) {
  const auto bytes = own.pack();
  std::uint64_t size = bytes.size();
  if (send(std::as_bytes(std::span(&size, 1)), 0)) static_cast<void>(send(bytes, 0));
}

/// Nothing: the rank is lost.
std::optional<report::part> receive_part(int from) {
  std::uint64_t size = 0;
  if (!receive(std::as_writable_bytes(std::span(&size, 1)), from)) return {};
  std::vector<std::byte> bytes(size);
  if (!receive(bytes, from)) return {};
  return report::part::unpack(bytes);
}

void write(const report::summary& job) {
  if (in_force.summary) {
    const auto text = report::summary_text(job);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  if (in_force.file.empty()) return;
  const auto done = report::write_page(job, in_force.file);
  if (!done) base::log(base::severity::warning, "no report: {}", done.error().text);
}

}  // namespace

void begin_report(const report::settings& wanted) {
  if (!wanted.records()) return;
  in_force = wanted;
  std::error_code fault;  // the program may change its folder
  if (!in_force.file.empty())
    in_force.file = std::filesystem::absolute(in_force.file, fault).string();
  report::trace_calls(in_force.traced_entries);
  exchange().keep_times();
  report::begin_recording();
  headway_called_from.store([](const void* where) { report::own_record().set_caller(where); },
                            std::memory_order_relaxed);  // as `library::calls`
  headway_exchange_recorder.store(&report::exchange_recorder,
                                  std::memory_order_relaxed);  // likewise
}

bool records_calls() noexcept { return in_force.records(); }

void finish_report() noexcept {
  if (!records_calls()) return;
  if (in_force.traced_entries != 0) {
    const auto rank = static_cast<std::uint32_t>(the_library.runtime->rank());
    the_library.runtime->add_to_timeline(report::calls_for_timeline(rank));
  }
  if (!in_force.summary && in_force.file.empty()) {
    in_force = {};
    return;
  }
  auto own = report::recorded_part();
  describe(own);
  if (own.rank != 0) {
    send_part(own);
  } else {
    const auto size = own.size;
    std::vector<report::part> parts;
    parts.push_back(std::move(own));
    for (std::uint32_t rank = 1; rank < size; ++rank)
      if (auto other = receive_part(static_cast<int>(rank))) parts.push_back(std::move(*other));
    write(report::merge(std::move(parts), size));
  }
  in_force = {};
}

void report_early_end(const std::string& why) noexcept {
  if (!records_calls() || the_library.runtime == nullptr) return;
  if (!base::first_of_job("a report of the job's early end")) return;
  auto own = report::recorded_part_of_this_thread();
  describe(own);
  const auto size = own.size;
  auto job = report::merge({std::move(own)}, size);
  job.ended_early = why;
  write(job);
}

}  // namespace headway::mpi
