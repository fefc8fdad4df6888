#include "report/page.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>

#include "base/json_string.hpp"

namespace headway::report {
namespace {

using base::json_string;

constexpr std::string_view mark = "{\"data\": null}";

/// A JSON array, an entry a line.
template <class Range, class Text>
std::string array(const Range& entries, Text text) {
  std::string out = "[";
  const char* before = "\n";
  for (const auto& entry : entries) {
    out += before + text(entry);
    before = ",\n";
  }
  return out + "]";
}

std::string spread_json(const spread& s) {
  return fmt::format(R"({{"sum":{:.9f},"min":{:.9f},"min_rank":{},"median":{:.9f},"max":{:.9f},)"
                     R"("max_rank":{}}})",
                     s.sum, s.least, s.least_rank, s.median, s.greatest, s.greatest_rank);
}

std::string function_json(const function_total& f) {
  return fmt::format(
      R"({{"function":{},"calls":{},"messages":{},"bytes":{},"sampled":{},"seconds":{}}})",
      json_string(f.function), f.calls, f.messages, f.bytes, f.sampled, spread_json(f.seconds));
}

std::string overlap_json(const overlap_sums& o) {
  return fmt::format(R"({{"operations":{},"timed":{},"bytes":{},"under_way_ns":{},"waited_ns":{},)"
                     R"("for_partner_ns":{},"possible_ns":{},"spare_ns":{}}})",
                     o.operations, o.timed, o.bytes, o.under_way_ns, o.waited_ns, o.for_partner_ns,
                     o.possible_ns, o.spare_ns);
}

std::string call_json(const call_total& c) {
  return fmt::format(
      R"({{"function":{},"place":{},"ranks":{},"calls":{},"timed":{},"waited":{},)"
      R"("seconds":{:.9f},"longest_s":{:.9f},"longest_rank":{},"messages":{},"bytes":{},)"
      R"("overlap":{}}})",
      json_string(c.function), json_string(c.place), c.ranks, c.sums.calls, c.sums.timed,
      c.sums.waited, c.total_s, static_cast<double>(c.sums.longest_ns) * 1e-9, c.longest_rank,
      c.sums.messages, c.sums.bytes, overlap_json(c.started));
}

std::string wait_json(const pair_total& w) {
  return fmt::format(R"({{"waiting":{},"awaited":{},"late_sender_s":{:.9f},"late_senders":{},)"
                     R"("late_receiver_s":{:.9f},"late_receivers":{},"collective_s":{:.9f},)"
                     R"("collectives":{}}})",
                     w.waiting, w.awaited, w.late_sender_s, w.late_sender, w.late_receiver_s,
                     w.late_receiver, w.collective_s, w.collective);
}

std::string traffic_json(const traffic_total& t) {
  return fmt::format(R"({{"from":{},"to":{},"messages":{},"bytes":{}}})", t.from, t.to, t.messages,
                     t.bytes);
}

std::string sizes_json(const size_counts& s) {
  std::string out = "[";
  for (std::size_t i = 0; i < size_counts::classes; ++i) {
    if (s.messages[i] == 0) continue;
    out += fmt::format(R"({}{{"below":{},"messages":{},"bytes":{}}})", out.size() > 1 ? "," : "",
                       std::uint64_t{1} << i, s.messages[i], s.bytes[i]);
  }
  return out + "]";
}

std::string thread_json(const thread_row& t) {
  return fmt::format(R"({{"name":{},"processors":{}}})", json_string(t.name),
                     json_string(t.processors));
}

std::string rail_json(const rail_row& r) {
  return fmt::format(R"({{"name":{},"peers":{},"messages_sent":{},"bytes_sent":{}}})",
                     json_string(r.name), r.peers, r.messages_sent, r.bytes_sent);
}

std::string rank_json(const part& p) {
  return fmt::format(R"({{"rank":{},"node":{},"host":{},"process":{},"program":{},"processors":{},)"
                     R"("seconds":{:.9f},"threads_calling":{},"threads":{},"rails":{}}})",
                     p.rank, p.node, json_string(p.host), p.pid, json_string(p.program),
                     json_string(p.processors), static_cast<double>(p.ended_ns - p.began_ns) * 1e-9,
                     p.threads_calling, array(p.threads, thread_json), array(p.rails, rail_json));
}

base::result<> write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto written = write(file, text.data(), text.size());
    if (written < 0) return base::failed_errno("write", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

std::string json_of(const summary& job) {
  std::string out = "{\"headway_report\": 1";
  const auto member = [&out](std::string_view name, const std::string& value) {
    out += fmt::format(",\n\"{}\": {}", name, value);
  };
  member("size", std::to_string(job.size));
  member("missing", fmt::format("[{}]", fmt::join(job.missing, ",")));
  member("ended_early", json_string(job.ended_early));
  member("seconds", fmt::format("{:.9f}", job.seconds));
  member("mpi_seconds", spread_json(job.mpi_seconds));
  member("advice", array(job.advice, json_string));
  member("functions", array(job.functions, function_json));
  member("calls", array(job.calls, call_json));
  member("waits", array(job.waits, wait_json));
  member("traffic", array(job.traffic, traffic_json));
  member("sizes", sizes_json(job.sizes_sent));
  member("overlap", overlap_json(job.overlap));
  member("collectives",
         fmt::format(R"({{"calls":{},"compared":{},"between_nodes":{}}})", job.collectives.calls,
                     job.collectives.compared, job.collectives.between_nodes));
  member("waits_dropped", std::to_string(job.waits_dropped));
  member("ranks", array(job.ranks, rank_json));
  return out + "}\n";
}

std::string page_of(const summary& job) {
  std::string page = page_template();
  page.replace(page.find(mark), mark.size(), json_of(job));
  return page;
}

base::result<> write_page(const summary& job, const std::string& file) {
  // Under another name first: a reader never sees half a page.
  const auto fresh = fmt::format("{}.{}.new", file, getpid());
  const int out = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out < 0) return base::failed_errno(fmt::format("open {}", file), errno);
  auto done = write_all(out, page_of(job));
  close(out);
  if (done && std::rename(fresh.c_str(), file.c_str()) != 0)
    done = base::failed_errno("rename", errno);
  if (done) return {};
  unlink(fresh.c_str());
  done.error().text = fmt::format("{}: {}", file, done.error().text);
  return done;
}

}  // namespace headway::report
