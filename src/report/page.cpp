#include "report/page.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>

#include "base/json_writer.hpp"
#include "base/whole_file.hpp"
#include "report/time_text.hpp"

namespace headway::report {
namespace {

constexpr std::string_view mark = "{\"data\": null}";

/// Writes a summary and its parts.
class summary_writer {
 public:
  std::string write(const summary& job) {
    out_.object([&] {
      out_.member("headway_report", 2);
      out_.member("size", job.size);
      list("missing", job.missing);
      out_.member("ended_early", job.ended_early);
      out_.member("seconds", job.seconds);
      add("mpi_seconds", job.mpi_seconds);
      list("advice", job.advice);
      lines("functions", job.functions);
      lines("calls", job.calls);
      lines("waits", job.waits);
      lines("traffic", job.traffic);
      add("sizes", job.sizes_sent);
      add("overlap", job.overlap);
      add("collectives", job.collectives);
      out_.member("waits_dropped", job.waits_dropped);
      lines("ranks", job.ranks);
    });
    return out_.take() + "\n";
  }

 private:
  void add(std::string_view name, const auto& what) {
    out_.name(name);
    add(what);
  }
  void list(std::string_view name, const auto& values) {
    out_.name(name);
    out_.array(values, [this](const auto& each) { out_.value(each); });
  }
  void lines(std::string_view name, const auto& entries) {
    out_.lines(name, entries, [this](const auto& each) { this->add(each); });
  }

  void add(const spread& s) {
    out_.object([&] {
      out_.member("sum", s.sum);
      out_.member("min", s.least);
      out_.member("min_rank", s.least_rank);
      out_.member("median", s.median);
      out_.member("max", s.greatest);
      out_.member("max_rank", s.greatest_rank);
    });
  }
  void add(const function_total& f) {
    out_.object([&] {
      out_.member("function", f.function);
      out_.member("calls", f.calls);
      out_.member("messages", f.messages);
      out_.member("bytes", f.bytes);
      out_.member("sampled", f.sampled);
      add("seconds", f.seconds);
    });
  }
  void add(const overlap_sums& o) {
    out_.object([&] {
      out_.member("operations", o.operations);
      out_.member("timed", o.timed);
      out_.member("bytes", o.bytes);
      out_.member("under_way_ns", o.under_way_ns);
      out_.member("hidden_ns", o.hidden_ns);
      out_.member("waited_ns", o.waited_ns);
      out_.member("for_partner_ns", o.for_partner_ns);
      out_.member("possible_ns", o.possible_ns);
      out_.member("spare_ns", o.spare_ns);
    });
  }
  void add(const call_total& c) {
    out_.object([&] {
      out_.member("function", c.function);
      out_.member("place", c.place);
      out_.member("ranks", c.ranks);
      out_.member("calls", c.sums.calls);
      if (c.counts_waits) out_.member("waited", c.sums.waited);
      out_.member("sampled", c.sampled);
      out_.member("seconds", c.total_s);
      out_.member("longest_s", seconds(c.sums.longest_ns));
      out_.member("longest_rank", c.longest_rank);
      out_.member("messages", c.sums.messages);
      out_.member("bytes", c.sums.bytes);
      add("overlap", c.started);
    });
  }
  void add(const pair_total& w) {
    out_.object([&] {
      out_.member("waiting", w.waiting);
      out_.member("awaited", w.awaited);
      out_.member("late_sender_s", w.late_sender_s);
      out_.member("late_senders", w.late_sender);
      out_.member("late_receiver_s", w.late_receiver_s);
      out_.member("late_receivers", w.late_receiver);
      out_.member("collective_s", w.collective_s);
      out_.member("collectives", w.collective);
    });
  }
  void add(const traffic_total& t) {
    out_.object([&] {
      out_.member("from", t.from);
      out_.member("to", t.to);
      out_.member("messages", t.messages);
      out_.member("bytes", t.bytes);
    });
  }
  void add(const size_counts& s) {
    out_.begin_array();
    for (std::size_t i = 0; i < size_counts::classes; ++i) {
      if (s.messages[i] == 0) continue;
      out_.object([&] {
        out_.member("below", std::uint64_t{1} << i);
        out_.member("messages", s.messages[i]);
        out_.member("bytes", s.bytes[i]);
      });
    }
    out_.end_array();
  }
  void add(const collective_coverage& c) {
    out_.object([&] {
      out_.member("calls", c.calls);
      out_.member("compared", c.compared);
      out_.member("between_nodes", c.between_nodes);
    });
  }
  void add(const thread_row& t) {
    out_.object([&] {
      out_.member("name", t.name);
      out_.member("processors", t.processors);
    });
  }
  void add(const rail_row& r) {
    out_.object([&] {
      out_.member("name", r.name);
      out_.member("peers", r.peers);
      out_.member("messages_sent", r.messages_sent);
      out_.member("bytes_sent", r.bytes_sent);
    });
  }
  void add(const part& p) {
    out_.object([&] {
      out_.member("rank", p.rank);
      out_.member("node", p.node);
      out_.member("host", p.host);
      out_.member("process", p.pid);
      out_.member("program", p.program);
      out_.member("processors", p.processors);
      out_.member("seconds", seconds(p.ended_ns - p.began_ns));
      out_.member("threads_calling", p.threads_calling);
      lines("threads", p.threads);
      lines("rails", p.rails);
    });
  }

  base::json_writer out_;
};

}  // namespace

std::string json_of(const summary& job) { return summary_writer().write(job); }

std::string page_of(const summary& job) {
  std::string page = page_template();
  auto data = json_of(job);
  // In strings alone, where it would end the script that has the data.
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos;)
    data.replace(at, 1, "\\u003c");
  page.replace(page.find(mark), mark.size(), data);
  return page;
}

base::result<> write_page(const summary& job, const std::string& file) {
  // Under another name first: a reader never sees half a page. But a device or a link stays what it
  // is, and is written to.
  struct stat found{};
  const bool replaced = lstat(file.c_str(), &found) != 0 || S_ISREG(found.st_mode);
  const auto fresh = replaced ? fmt::format("{}.{}.new", file, getpid()) : file;
  const int out = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out < 0) return base::failed_errno(fmt::format("open {}", file), errno);
  auto done = base::write_all(out, page_of(job));
  close(out);
  if (done && replaced && std::rename(fresh.c_str(), file.c_str()) != 0)
    done = base::failed_errno("rename", errno);
  if (done) return {};
  if (replaced) unlink(fresh.c_str());
  done.error().text = fmt::format("{}: {}", file, done.error().text);
  return done;
}

}  // namespace headway::report
