#pragma once

#include <map>
#include <string>
#include <thread>
#include <vector>

namespace headway::launch {

/// What distinguishes one PMI-1 server's replies from another's.
struct dialect {
  std::string name;
  std::string version = "rc=0 pmi_version=1 pmi_subversion=1";
  std::string maxes = "kvsname_max=256 keylen_max=64 vallen_max=1024";
  std::string app = "appnum=0";
  std::string universe = "size=4";
  std::string put = "rc=0";
  std::string before_value = "rc=0 ", behind_value = "";
  std::string missing = "rc=1";
  std::string barrier = "rc=0";
  std::string finalize = "rc=0";
  std::string space = "kvs_1_0";
};

/// The known servers, as far as their replies differ, and one with tiny values.
[[nodiscard]] const std::vector<dialect>& dialects();

/// Serves PMI-1 to `size` clients in a separate thread, in one dialect. Lines of more than 1024
/// bytes get an invalid answer.
class fake_server {
 public:
  /// A get of a key in `forged` returns the value there, whatever was put.
  fake_server(const dialect& speech, int size, std::map<std::string, std::string> forged = {});
  /// Waits until every client end is closed.
  ~fake_server();
  fake_server(const fake_server&) = delete;
  fake_server& operator=(const fake_server&) = delete;

  /// The client's end for `rank`; the caller closes it.
  [[nodiscard]] int client_end(int rank) const { return theirs_[static_cast<std::size_t>(rank)]; }
  /// Every line that clients sent. Waits until every client end is closed.
  [[nodiscard]] const std::vector<std::string>& heard();

 private:
  void serve();
  /// False: the client has closed its end.
  bool serve_client(std::size_t rank);
  std::string reply_to(const std::string& text);
  std::string value_reply(const std::string& key);
  void arrive_at_barrier();

  dialect speech_;
  std::vector<int> ours_, theirs_;
  std::vector<std::string> partial_, heard_;
  const std::map<std::string, std::string> forged_;
  std::map<std::string, std::string> store_;
  std::size_t at_barrier_ = 0;
  std::thread thread_;
};

}  // namespace headway::launch
