#pragma once

#include <thread>
#include <vector>

#include "base/result.hpp"

namespace headway::mpiexec {

/// Copies the standard input of mpiexec to ranks that cannot read it themselves: a terminal belongs
/// to the process group of mpiexec, and of several readers of a file or pipe each would get a part.
/// Shape:    a pipe per rank. A rank that does not read its input holds up the others once the
///           kernel's buffer of its pipe is full.
/// Threads:  has a separate thread; `add` before `start`.
/// Progress: the destructor ends the thread, also while it waits for input or for a rank.
/// Errors:   a rank that has closed its input gets no more.
class input_pump {
 public:
  input_pump();
  ~input_pump();
  input_pump(const input_pump&) = delete;
  input_pump& operator=(const input_pump&) = delete;

  /// Copies the input to this end of a pipe as well, and owns it.
  void add(int pipe);
  /// A fault: the thread, or a descriptor, cannot be made.
  [[nodiscard]] base::result<> start();

 private:
  void run();
  /// Waits until the descriptor is ready; false: the pump must end.
  [[nodiscard]] bool wait_for(int descriptor, short events) const;
  [[nodiscard]] bool pass_on(const char* bytes, std::size_t count);
  void close_all();

  std::vector<int> pipes_;  ///< the thread's once it runs
  std::thread thread_;
  int end_;    ///< readable when the thread must end
  int error_;  ///< why it is missing (errno); 0: it is not
};

}  // namespace headway::mpiexec
