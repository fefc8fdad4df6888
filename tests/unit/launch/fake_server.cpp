#include "fake_server.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "launch/pmi1/pmi_line.hpp"

namespace headway::launch {
namespace {

void put_out(int descriptor, const std::string& text) {
  // In two pieces, as it may happen on a real stream. A client that is gone does not matter.
  const auto half = text.size() / 2;
  send(descriptor, text.data(), half, MSG_NOSIGNAL);
  send(descriptor, text.data() + half, text.size() - half, MSG_NOSIGNAL);
}

std::string reply_line(const std::string& name, const std::string& rest) {
  return "cmd=" + name + (rest.empty() ? "" : " ") + rest + "\n";
}

}  // namespace

const std::vector<dialect>& dialects() {
  const auto old_missing = "rc=-1 msg=key_x_not_found value=unknown";
  const auto old_version = "pmi_version=1 pmi_subversion=1 rc=0";
  static const std::vector<dialect> all{
      {.name = "hydra 5",
       .version = "rc=0 pmi_version=1 pmi_subversion=2",
       .barrier = "rc=0 tag=0"},
      {.name = "hydra 4",
       .version = old_version,
       .put = "rc=0 msg=success",
       .before_value = "rc=0 msg=success ",
       .missing = old_missing,
       .barrier = "",
       .finalize = ""},
      {.name = "gforker",
       .version = old_version,
       .before_value = "",
       .behind_value = " rc=0",
       .missing = "value=unknown msg=key_x_not_found rc=-1",
       .barrier = "",
       .finalize = ""},
      {.name = "slurm", .app = "rc=0 appnum=-1", .universe = "rc=0 size=4", .space = "23.4"},
      {.name = "intel",
       .version = old_version,
       .maxes = "kvsname_max=256 keylen_max=64 vallen_max=4096",
       .before_value = "",
       .behind_value = " msg=success rc=0",
       .missing = old_missing,
       .barrier = "",
       .finalize = ""},
      {.name = "tiny", .maxes = "rc=0 kvsname_max=16 keylen_max=64 vallen_max=64"},
  };
  return all;
}

fake_server::fake_server(const dialect& speech, int size, std::map<std::string, std::string> forged)
    : speech_(speech), forged_(std::move(forged)) {
  for (int rank = 0; rank < size; ++rank) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    ours_.push_back(ends[0]);
    theirs_.push_back(ends[1]);
  }
  partial_.resize(ours_.size());
  thread_ = std::thread([this] { serve(); });
}

fake_server::~fake_server() {
  if (thread_.joinable()) thread_.join();
}

const std::vector<std::string>& fake_server::heard() {
  if (thread_.joinable()) thread_.join();
  return heard_;
}

void fake_server::serve() {
  for (std::size_t open = ours_.size(); open > 0;) {
    std::vector<pollfd> all;
    for (const int descriptor : ours_) all.push_back({descriptor, POLLIN, 0});
    poll(all.data(), all.size(), -1);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank].revents == 0 || serve_client(rank)) continue;
      close(ours_[rank]);
      ours_[rank] = -1;
      --open;
    }
  }
}

bool fake_server::serve_client(std::size_t rank) {
  char block[777];  // odd, so that lines arrive in pieces
  const auto got = read(ours_[rank], block, sizeof block);
  if (got <= 0) return false;
  auto& held = partial_[rank];
  held.append(block, static_cast<std::size_t>(got));
  for (std::size_t end; (end = held.find('\n')) != std::string::npos; held.erase(0, end + 1)) {
    heard_.push_back(held.substr(0, end));
    put_out(ours_[rank], reply_to(heard_.back()));
  }
  return true;
}

std::string fake_server::reply_to(const std::string& text) {
  const auto line = pmi_line::parse(text);
  if (!line || text.size() + 1 > 1024) return "cmd=complaint\n";
  const std::string command(line->command());
  if (command == "init") return reply_line("response_to_init", speech_.version);
  if (command == "get_maxes") return reply_line("maxes", speech_.maxes);
  if (command == "get_appnum") return reply_line("appnum", speech_.app);
  if (command == "get_universe_size") return reply_line("universe_size", speech_.universe);
  if (command == "get_my_kvsname") return reply_line("my_kvsname", "kvsname=" + speech_.space);
  if (command == "finalize") return reply_line("finalize_ack", speech_.finalize);
  if (command == "get") return value_reply(std::string(line->find("key").value_or("")));
  if (command == "barrier_in") arrive_at_barrier();
  if (command != "put") return "";
  store_[std::string(line->find("key").value_or(""))] = line->find("value").value_or("");
  return reply_line("put_result", speech_.put);
}

std::string fake_server::value_reply(const std::string& key) {
  if (forged_.contains(key)) store_[key] = forged_.at(key);
  if (!store_.contains(key)) return reply_line("get_result", speech_.missing);
  return reply_line("get_result",
                    speech_.before_value + "value=" + store_[key] + speech_.behind_value);
}

void fake_server::arrive_at_barrier() {
  if (++at_barrier_ < ours_.size()) return;
  at_barrier_ = 0;
  for (const int descriptor : ours_)
    put_out(descriptor, reply_line("barrier_out", speech_.barrier));
}

}  // namespace headway::launch
