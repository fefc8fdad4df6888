#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/mpiexec/balance_watch.hpp"
#include "tools/mpiexec/input_pump.hpp"
#include "tools/mpiexec/label_pump.hpp"
#include "tools/mpiexec/options.hpp"
#include "tools/mpiexec/pmi_server.hpp"
#include "tools/mpiexec/shm_cleanup.hpp"
#include "tools/mpiexec/spawn.hpp"
#include "tools/mpiexec/started_jobs.hpp"

namespace headway::mpiexec {

/// The environment without what an outer launcher has put there.
[[nodiscard]] std::vector<std::string> inherited_environment(const char* const* ambient);

/// Runs one job on this machine: starts the ranks, serves them, watches them, and ends them.
///
/// The first rank that fails determines the exit code and the message. A rank fails when it is
/// killed, returns another code than 0, ends between init and finalize, or aborts. Failures of
/// other ranks may be consequences: a rank that *reports* a failure is taken as the cause only
/// after `verdict_delay_ns`; a rank that is found killed before that takes precedence.
///
/// Threads:  one (and label_pump's).
/// Progress: `run` returns when every rank has ended, and every job that ranks have started. If the
///           job fails, they get SIGTERM at once and SIGKILL after `kill_delay_ns`.
/// Errors:   one line on standard error, and an exit code as in `help_text`.
class job_runner final : pmi_host {
 public:
  static constexpr std::uint64_t verdict_delay_ns = 20'000'000;
  static constexpr std::uint64_t kill_delay_ns = 500'000'000;

  /// `machine` has the processors if the options bind ranks. `ambient` is the environment that
  /// ranks inherit, terminated by a null pointer.
  job_runner(const options& wish, const machine_places& machine, const char* const* ambient);
  ~job_runner();
  job_runner(const job_runner&) = delete;
  job_runner& operator=(const job_runner&) = delete;

  [[nodiscard]] int run();

 private:
  /// How certain a sign of failure is to be the cause: of two at the same moment the higher counts.
  enum class weight : unsigned char { reported, left, killed };
  struct verdict {
    int rank = 0;
    int exit_code = 0;
    weight strength = weight::reported;
    std::string cause;
  };
  struct rank_process {
    const program_block* program = nullptr;
    pid_t pid = -1;
    int process = -1;  ///< pidfd
    int wire = -1;     ///< this end of its PMI connection
    bool alive = false;
    bool waits_for_room = false;  ///< its socket's buffer is full
    std::deque<std::shared_ptr<const std::string>> replies;
    std::size_t sent_of_first = 0;
  };

  // Starting (job_start.cpp).
  [[nodiscard]] bool find_programs();
  void raise_descriptor_limit();
  [[nodiscard]] bool open_watches();
  [[nodiscard]] bool start_ranks();
  [[nodiscard]] bool start_rank(int rank, const program_block& block, const std::string& path,
                                std::vector<std::string>& environment);
  [[nodiscard]] std::vector<std::string> environment_of(const program_block& block) const;
  [[nodiscard]] std::vector<std::string> shared_folders() const;
  [[nodiscard]] std::vector<std::string> command_of(int rank, const program_block& block,
                                                    const std::string& path) const;
  void report(int rank, const std::string& path, const machine_places::place& processors) const;

  // The streams of ranks (job_input_output.cpp).
  [[nodiscard]] bool prepare_streams();
  [[nodiscard]] bool start_streams();
  [[nodiscard]] bool reads_input(int rank) const;
  [[nodiscard]] bool open_input(int rank, child_plan& plan);
  [[nodiscard]] bool open_output(int rank, child_plan& plan);
  void close_streams(const child_plan& plan) const;
  [[nodiscard]] bool open_labelled(int rank, int target, int& end);
  [[nodiscard]] int open_file(const std::string& pattern, int rank) const;
  [[nodiscard]] bool colours(int descriptor) const;

  // Serving and watching (job_runner.cpp).
  void serve();
  [[nodiscard]] int wait_ms() const;
  void look_at_clock();
  void look_at_balance(std::uint64_t now_ns) noexcept;
  void receive(int rank);
  void send_replies(int rank);
  void note_end(int rank);
  void blame(verdict found);
  void settle_verdict();
  void end_ranks();
  void kill_groups(int signal_number) noexcept;
  void take_signal();
  void wait_for_output();
  void clean_up();
  [[nodiscard]] std::string describe(int rank) const;

  void reply(int rank, std::shared_ptr<const std::string> bytes) override;
  void abort_wanted(int rank, int exit_code, std::string why) override;
  void protocol_broken(int rank, std::string what) override;
  [[nodiscard]] base::result<pid_t> spawn_wanted(const launch::spawn_request& what) override;

  rank_process& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool watch(int descriptor, std::uint64_t mark, std::uint32_t events,
                           bool change = false);
  void wait_for_room(int rank, bool waits);
  void cannot_serve(int rank, const char* call);

  const options& wish_;
  const machine_places& machine_;
  const char* const* ambient_;
  std::string job_name_;
  std::vector<std::string> paths_;  ///< of the programs, by block
  std::string debugger_;            ///< its path, if ranks run in it
  std::vector<rank_process> ranks_;
  std::unique_ptr<pmi_server> server_;
  std::vector<std::string> shared_folders_;  ///< in which ranks share memory
  std::unique_ptr<guardian> guardian_;
  std::optional<started_jobs> jobs_;
  std::optional<balance_watch> balance_;  ///< as long as ranks stay bound without being asked
  std::unique_ptr<label_pump> pump_;
  std::unique_ptr<input_pump> input_;
  int epoll_ = -1, signals_ = -1, null_input_ = -1;
  bool one_stream_ = false;  ///< output and error output of mpiexec are the same file
  sigset_t old_mask_{};
  std::vector<int> default_signals_;
  std::optional<rlimit> old_limit_;

  bool polls_ends_ = false;  ///< the end of a rank is not reported by its pidfd
  int living_ = 0;
  int exit_code_ = 0;
  std::optional<verdict> pending_;
  bool ending_ = false;
  bool output_finished_ = false;  ///< label_pump has ended
  bool output_only_ = false;  ///< all ranks have ended, their last output is still being written
  int forwarded_signal_ = 0;  ///< the last deadly one that a user sent
  std::uint64_t verdict_at_ns_ = 0, kill_at_ns_ = 0, timeout_at_ns_ = 0;
};

}  // namespace headway::mpiexec
