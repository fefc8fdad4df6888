#include "tools/mpiexec/pmi_server.hpp"

#include <fmt/format.h>

#include <utility>

namespace headway::mpiexec {
namespace {

using launch::pmi_line;

std::string_view or_empty(std::optional<std::string_view> value) { return value.value_or(""); }

}  // namespace

pmi_server::pmi_server(pmi_host& host, job_facts facts)
    : host_(host),
      facts_(std::move(facts)),
      ranks_(static_cast<std::size_t>(facts_.size)),
      living_ranks_(facts_.size) {
  store_["PMI_process_mapping"] = fmt::format("(vector,(0,1,{}))", facts_.size);
}

void pmi_server::answer(int rank, std::string line) {
  line += '\n';
  host_.reply(rank, std::make_shared<const std::string>(std::move(line)));
}

void pmi_server::give_up_on(int rank, std::string what) {
  at(rank).broken = true;
  host_.protocol_broken(rank, std::move(what));
}

void pmi_server::receive(int rank, std::string_view bytes) {
  auto& from = at(rank);
  if (from.broken || from.ended) return;
  from.received.append(bytes);
  while (!from.broken) {
    if (const auto line = from.received.take_line()) {
      take_line(rank, *line);
    } else {
      if (from.received.overlong())
        give_up_on(rank, fmt::format("a PMI line of more than {} bytes", line_bytes_max));
      return;
    }
  }
}

void pmi_server::take_line(int rank, std::string_view text) {
  if (at(rank).spawn.inside) return take_spawn_line(rank, text);
  const auto line = pmi_line::parse(text);
  if (!line)
    return give_up_on(rank,
                      fmt::format("not a PMI line: '{}'", launch::escaped(text.substr(0, 80))));
  if (line->is_multi_line()) {
    at(rank).spawn = {.inside = true};
  } else if (!take_session_command(rank, *line) && !take_store_command(rank, *line)) {
    answer(rank, "cmd=error rc=-1 msg=unknown_command");
  }
}

/// A spawn of PMI-1 comes as lines, a block per program, each from "mcmd=spawn" to "endcmd". It is
/// read to the end of the last block and refused: only Headway's library starts jobs, by
/// headway_spawn.
void pmi_server::take_spawn_line(int rank, std::string_view text) {
  auto& spawn = at(rank).spawn;
  constexpr std::string_view total = "totspawns=", so_far = "spawnssofar=";
  if (text.starts_with(total)) {
    spawn.blocks = launch::decimal(text.substr(total.size())).value_or(1);
  } else if (text.starts_with(so_far)) {
    spawn.block = launch::decimal(text.substr(so_far.size())).value_or(1);
  } else if (text == "endcmd") {
    spawn.inside = false;
    if (spawn.block >= spawn.blocks)
      answer(rank, "cmd=spawn_result rc=-1 msg=this_launcher_spawns_no_processes");
  }
}

bool pmi_server::take_session_command(int rank, const pmi_line& line) {
  const auto command = line.command();
  if (command == "init") {
    init(rank, line);
  } else if (command == "get_maxes") {
    answer(rank, fmt::format("cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max={}",
                             value_bytes_max));
  } else if (command == "get_appnum") {
    answer(rank, fmt::format("cmd=appnum rc=0 appnum={}",
                             facts_.program_of_rank[static_cast<std::size_t>(rank)]));
  } else if (command == "get_universe_size") {
    answer(rank, fmt::format("cmd=universe_size rc=0 size={}", facts_.size));
  } else if (command == "get_my_kvsname") {
    answer(rank, fmt::format("cmd=my_kvsname rc=0 kvsname={}", facts_.name));
  } else if (command == "barrier_in") {
    arrive_at_barrier(rank);
  } else if (command == "headway_missing") {
    answer(rank, "cmd=headway_missing rc=0 ranks=" + missing_ranks());
  } else if (command == "headway_spawn") {
    spawn(rank, line);
  } else if (command == "abort") {
    abort(rank, line);
  } else if (command == "finalize") {
    at(rank).inside = false;
    answer(rank, "cmd=finalize_ack rc=0");
  } else {
    return false;
  }
  return true;
}

bool pmi_server::take_store_command(int rank, const pmi_line& line) {
  const auto command = line.command();
  if (command == "put") {
    put(rank, line);
  } else if (command == "get") {
    get(rank, line);
  } else if (command.ends_with("publish_name") || command == "lookup_name") {
    name_command(rank, line);
  } else {
    return false;
  }
  return true;
}

void pmi_server::init(int rank, const pmi_line& line) {
  if (line.number("pmi_version") != 1)
    return answer(rank, "cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=1");
  at(rank).inside = at(rank).joined = true;
  std::string welcome = "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1";
  // Everything that Headway's library would ask next, in the same round trip.
  if (line.number("headway") == 1)
    welcome += fmt::format(" headway=1 kvsname={} appnum={} universe={} secret={}", facts_.name,
                           facts_.program_of_rank[static_cast<std::size_t>(rank)], facts_.size,
                           facts_.secret);
  answer(rank, std::move(welcome));
}

void pmi_server::put(int rank, const pmi_line& line) {
  const auto key = line.find("key"), value = line.find("value");
  if (!key || key->empty() || !value) return answer(rank, "cmd=put_result rc=-1 msg=no_key");
  if (key->starts_with("PMI_")) return answer(rank, "cmd=put_result rc=-1 msg=reserved_key");
  store_bytes_ += key->size() + value->size();
  if (store_bytes_ > store_bytes_max) return answer(rank, "cmd=put_result rc=-1 msg=store_full");
  store_.insert_or_assign(std::string(*key), std::string(*value));
  answer(rank, "cmd=put_result rc=0");
}

void pmi_server::get(int rank, const pmi_line& line) {
  const auto found = store_.find(or_empty(line.find("key")));
  answer(rank, found == store_.end() ? "cmd=get_result rc=1 msg=key_not_found"
                                     : fmt::format("cmd=get_result rc=0 value={}", found->second));
}

void pmi_server::name_command(int rank, const pmi_line& line) {
  const std::string service(or_empty(line.find("service")));
  const auto found = names_.find(service);
  if (line.command() == "lookup_name") {
    answer(rank, found == names_.end()
                     ? "cmd=lookup_result rc=1 info=fail msg=name_not_found"
                     : fmt::format("cmd=lookup_result rc=0 info=ok port={}", found->second));
  } else if (line.command() == "unpublish_name") {
    if (found == names_.end()) return answer(rank, "cmd=unpublish_result rc=1 info=fail");
    names_.erase(found);
    answer(rank, "cmd=unpublish_result rc=0 info=ok");
  } else {
    const auto port = or_empty(line.find("port"));
    store_bytes_ += service.size() + port.size();
    if (found != names_.end() || service.empty() || store_bytes_ > store_bytes_max)
      return answer(rank, "cmd=publish_result rc=1 info=fail");
    names_.emplace(service, port);
    answer(rank, "cmd=publish_result rc=0 info=ok");
  }
}

void pmi_server::abort(int rank, const pmi_line& line) {
  const auto code = line.number("exitcode").value_or(1);
  host_.abort_wanted(rank, static_cast<int>(code),
                     launch::unescaped(or_empty(line.find("message"))));
}

void pmi_server::spawn(int rank, const pmi_line& line) {
  const auto wanted = launch::spawn_request::unpack(or_empty(line.find("job")));
  if (!wanted) return answer(rank, "cmd=headway_spawn rc=-1 msg=no_job");
  const auto process = host_.spawn_wanted(*wanted);
  answer(rank, process ? fmt::format("cmd=headway_spawn rc=0 pid={}", *process)
                       : fmt::format("cmd=headway_spawn rc=-1 msg={}",
                                     launch::escaped(process.error().text)));
}

void pmi_server::arrive_at_barrier(int rank) {
  if (at(rank).at_barrier)
    return give_up_on(rank, "a second barrier before the answer to the first");
  at(rank).at_barrier = true;
  ++waiting_ranks_;
  release_if_all_came();
}

void pmi_server::release_if_all_came() {
  if (waiting_ranks_ == 0 || waiting_ranks_ < living_ranks_) return;
  const auto out = std::make_shared<const std::string>("cmd=barrier_out rc=0\n");
  waiting_ranks_ = 0;
  for (int rank = 0; rank < facts_.size; ++rank)
    if (std::exchange(at(rank).at_barrier, false) && !at(rank).ended) host_.reply(rank, out);
}

/// The running ranks that have not entered the barrier: "2,3,7", the first few of them.
std::string pmi_server::missing_ranks() const {
  constexpr std::size_t text_bytes_max = 60;
  std::string text;
  for (int rank = 0; rank < facts_.size; ++rank) {
    if (at(rank).ended || at(rank).at_barrier) continue;
    if (text.size() > text_bytes_max) return text + ",…";
    text += (text.empty() ? "" : ",") + std::to_string(rank);
  }
  return text;
}

void pmi_server::rank_ended(int rank) {
  auto& gone = at(rank);
  if (std::exchange(gone.ended, true)) return;
  --living_ranks_;
  if (std::exchange(gone.at_barrier, false)) --waiting_ranks_;
  release_if_all_came();
}

}  // namespace headway::mpiexec
