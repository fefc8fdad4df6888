#include "launch/pmix/pmix_launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "launch/pmix/pmix_library.hpp"
#include "launch/wire_text.hpp"

namespace headway::launch {
namespace {

using base::failed;
using base::fault_kind;

constexpr std::uint64_t abort_ns_max = 10'000'000'000u;  // afterwards the caller ends by itself

/// The result of a call of the library. Shared with the call, which may take longer than the wait.
struct outcome {
  pmix_status_t status = PMIX_ERROR;
  std::vector<std::byte> bytes = {};  ///< of a byte object
  std::uint64_t number = 0;           ///< of a whole number
  bool has_number = false;
  pmix_proc_t self = {};  ///< of PMIx_Init
};

void take_value(const pmix_value_t& value, outcome& out) {
  out.has_number = true;
  switch (value.type) {
    case PMIX_BYTE_OBJECT: {
      const auto* begin = reinterpret_cast<const std::byte*>(value.data.bo.bytes);
      out.bytes.assign(begin, begin + value.data.bo.size);
      out.has_number = false;
      return;
    }
    case PMIX_UINT32:
      out.number = value.data.uint32;
      return;
    case PMIX_UINT16:
      out.number = value.data.uint16;
      return;
    case PMIX_UINT64:
      out.number = value.data.uint64;
      return;
    case PMIX_INT:
      out.number = static_cast<std::uint64_t>(value.data.integer);
      return;
    case PMIX_SIZE:
      out.number = value.data.size;
      return;
    default:
      out.has_number = false;
  }
}

pmix_proc_t process(const char* job, pmix_rank_t rank) {
  pmix_proc_t made{};
  const auto length = std::min(std::strlen(job), sizeof made.nspace - 1);  // the rest is zero
  std::memcpy(made.nspace, job, length);
  made.rank = rank;
  return made;
}

class pmix_launcher final : public launcher {
 public:
  pmix_launcher(const pmix_library& library, const settings& how) : library_(library), how_(how) {}

  [[nodiscard]] base::result<> join();

  [[nodiscard]] const identity& who() const noexcept override { return who_; }
  [[nodiscard]] std::optional<job_secret> secret() const override { return std::nullopt; }
  [[nodiscard]] base::result<> publish(std::span<const std::byte> value) override;
  [[nodiscard]] base::result<> barrier() override;
  [[nodiscard]] base::result<std::vector<std::byte>> value_of(int rank) override;
  void abort(int exit_code, std::string_view why) noexcept override;
  [[nodiscard]] base::result<> finish() override;

 private:
  using call = std::function<void(const pmix_library&, outcome&)>;

  [[nodiscard]] base::result<outcome> run(const std::string& what, std::uint64_t deadline_ns,
                                          call made) const;
  [[nodiscard]] base::result<outcome> get(pmix_rank_t rank, std::string key) const;
  [[nodiscard]] std::string key() const { return fmt::format("headway-{}", rounds_); }

  const pmix_library library_;
  const settings how_;
  identity who_;
  pmix_proc_t self_{};
  int rounds_ = 0;
};

/// Runs `made` on a thread of its own and waits for it until the deadline. `what` names it in
/// errors.
base::result<outcome> pmix_launcher::run(const std::string& what, std::uint64_t deadline_ns,
                                         call made) const {
  std::packaged_task<outcome()> task([library = library_, made = std::move(made)] {
    outcome out;
    made(library, out);
    return out;
  });
  auto ended = task.get_future();
  std::thread(std::move(task)).detach();
  const auto now_ns = base::machine_now_ns();
  const auto rest_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
  if (ended.wait_for(std::chrono::nanoseconds(rest_ns)) != std::future_status::ready)
    return failed(fault_kind::timed_out,
                  fmt::format("the PMIx server gave no answer to {} within {} s "
                              "(HEADWAY_START_TIMEOUT)",
                              what, how_.start_timeout_s()));
  auto out = ended.get();
  if (out.status != PMIX_SUCCESS)
    return failed(out.status == PMIX_ERR_LOST_CONNECTION || out.status == PMIX_ERR_UNREACH
                      ? fault_kind::peer_lost
                      : fault_kind::bad_input,
                  fmt::format("PMIx refused {}: {}", what, library_.error_string(out.status)));
  return out;
}

base::result<outcome> pmix_launcher::get(pmix_rank_t rank, std::string key) const {
  const auto what = rank == PMIX_RANK_WILDCARD ? key : fmt::format("{} of rank {}", key, rank);
  return run(
      what, how_.deadline_ns(),
      [of = process(self_.nspace, rank), key = std::move(key)](const auto& library, outcome& out) {
        pmix_value_t* value = nullptr;
        out.status = library.get(&of, key.c_str(), nullptr, 0, &value);
        if (out.status != PMIX_SUCCESS || !value) return;
        take_value(*value, out);
        // As PMIX_VALUE_RELEASE, for the types used here.
        if (value->type == PMIX_BYTE_OBJECT) std::free(value->data.bo.bytes);
        std::free(value);
      });
}

base::result<> pmix_launcher::join() {
  const auto joined = run("PMIx_Init", how_.deadline_ns(), [](const auto& library, outcome& out) {
    out.status = library.init(&out.self, nullptr, 0);
  });
  if (!joined) return std::unexpected(joined.error());
  self_ = joined->self;
  const auto size = get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
  if (!size) return std::unexpected(size.error());
  if (!size->has_number || !is_place(self_.rank, static_cast<std::int64_t>(size->number)))
    return failed(
        fault_kind::bad_input,
        fmt::format("the PMIx server says that this is rank {} of {}", self_.rank, size->number));
  who_ = {.rank = static_cast<int>(self_.rank),
          .size = static_cast<int>(size->number),
          .job_id = file_safe(self_.nspace),
          .launcher = "pmix"};
  // Servers may not support these two.
  const auto app = get(self_.rank, PMIX_APPNUM);
  who_.app_number = app && app->has_number ? static_cast<int>(app->number) : -1;
  const auto universe = get(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE);
  who_.universe_size = universe && universe->has_number ? static_cast<int>(universe->number) : -1;
  return {};
}

base::result<> pmix_launcher::publish(std::span<const std::byte> value) {
  ++rounds_;
  if (!value.empty()) {
    const auto put = run("PMIx_Put", how_.deadline_ns(),
                         [key = key(), bytes = std::vector<std::byte>(value.begin(), value.end())](
                             const auto& library, outcome& out) mutable {
                           pmix_value_t given{};
                           given.type = PMIX_BYTE_OBJECT;
                           given.data.bo.bytes =
                               reinterpret_cast<char*>(bytes.data());  // copied by the call
                           given.data.bo.size = bytes.size();
                           out.status = library.put(PMIX_GLOBAL, key.c_str(), &given);
                           if (out.status == PMIX_SUCCESS) out.status = library.commit();
                         });
    if (!put) return std::unexpected(put.error());
  }
  return barrier();
}

/// A collecting fence: after it every node's server has the values of all processes.
base::result<> pmix_launcher::barrier() {
  const auto done =
      run("PMIx_Fence", how_.deadline_ns(),
          [all = process(self_.nspace, PMIX_RANK_WILDCARD)](const auto& library, outcome& out) {
            pmix_info_t collect{};
            std::strncpy(collect.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
            collect.value.type = PMIX_BOOL;
            collect.value.data.flag = true;
            out.status = library.fence(&all, 1, &collect, 1);
          });
  if (!done) return std::unexpected(done.error());
  return {};
}

base::result<std::vector<std::byte>> pmix_launcher::value_of(int rank) {
  auto found = get(static_cast<pmix_rank_t>(rank), key());
  if (!found) return std::unexpected(found.error());
  if (found->bytes.size() > record_bytes_max || found->has_number)
    return failed(fault_kind::bad_input,
                  fmt::format("what rank {} published came back damaged", rank));
  return std::move(found->bytes);
}

void pmix_launcher::abort(int exit_code, std::string_view why) noexcept {
  if (!why.empty())
    base::log(base::severity::error, "rank {}: the job is ended: {}", who_.rank, why);
  const auto ended = run("PMIx_Abort", base::machine_now_ns() + abort_ns_max,
                         [exit_code, text = std::string(why)](const auto& library, outcome& out) {
                           out.status = library.abort(exit_code, text.c_str(), nullptr, 0);
                         });
  // The server ends this process, too, but not at once.
  if (ended) std::this_thread::sleep_for(std::chrono::nanoseconds(abort_ns_max));
}

base::result<> pmix_launcher::finish() {
  const auto left = run("PMIx_Finalize", how_.deadline_ns(), [](const auto& library, outcome& out) {
    out.status = library.finalize(nullptr, 0);
  });
  if (!left) return std::unexpected(left.error());
  return {};
}

}  // namespace

base::result<std::unique_ptr<launcher>> join_pmix(const settings& how) {
  const auto library = pmix_library::load();
  if (!library) return std::unexpected(library.error());
  auto made = std::make_unique<pmix_launcher>(*library, how);
  if (auto done = made->join(); !done) return std::unexpected(done.error());
  return made;
}

}  // namespace headway::launch
