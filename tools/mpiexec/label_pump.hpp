#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"

namespace headway::mpiexec {

/// Copies the ranks' output to that of mpiexec, each line whole and after its rank: "3: …".
/// Shape:    a label has the colour of its rank where a user looks at it in a terminal.
///           A pipe per stream; a line is held back until it ends, or until it has
///           `line_bytes_max` bytes and is written in parts.
/// Threads:  has a separate thread, so that a slow reader of the output delays nothing else. `add`
///           before `start`.
/// Errors:   when the output of mpiexec has no reader any more, the pipes are closed and the ranks
///           get SIGPIPE as if they wrote to it themselves.
class label_pump {
 public:
  static constexpr std::size_t line_bytes_max = 1 << 20;

  label_pump();
  ~label_pump();
  label_pump(const label_pump&) = delete;
  label_pump& operator=(const label_pump&) = delete;

  /// Copies everything from `pipe` to the descriptor `target`, labelled with `rank`. Owns `pipe`.
  void add(int rank, int pipe, int target, bool colour);
  /// A fault: the thread, or a descriptor, cannot be made.
  [[nodiscard]] base::result<> start();
  /// All ranks have ended: writes what is left in the pipes, then ends the thread. Does not wait
  /// for processes that a rank has started and that hold a pipe open.
  void drain();
  /// Readable when the thread has ended.
  [[nodiscard]] int finished_descriptor() const noexcept { return finished_; }

 private:
  struct stream {
    int pipe, target;
    std::string label;
    std::string held;
  };
  void run();
  void read_some(stream& from);
  void put_out(stream& from, bool to_the_end);
  void close_stream(stream& from);
  [[nodiscard]] bool write_all(int target, const std::string& bytes);

  std::vector<stream> streams_;
  std::size_t open_streams_ = 0;
  std::thread thread_;
  int epoll_, drain_, finished_;
  int error_;  ///< why one of them is missing (errno); 0: none is
};

}  // namespace headway::mpiexec
