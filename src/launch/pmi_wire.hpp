#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "launch/line_buffer.hpp"
#include "launch/pmi_line.hpp"

namespace headway::launch {

/// The stream to a PMI-1 server, seen from a rank: a request, then its reply.
/// Shape:    owns the descriptor. Its file flags stay as they were found, because shells around us
///           may share it; every call here is non-blocking by itself.
/// Threads:  one; `send` also from others, each request whole.
/// Progress: waits for the server, at most until `deadline_ns` (base::now_ns).
/// Errors:   `timed_out` names what was waited for, `peer_lost` when the server hung up,
///           `bad_input` when it says something else than was asked.
class pmi_wire {
 public:
  explicit pmi_wire(int descriptor);
  ~pmi_wire();
  pmi_wire(const pmi_wire&) = delete;
  pmi_wire& operator=(const pmi_wire&) = delete;

  [[nodiscard]] base::result<> send(std::string_view bytes, std::uint64_t deadline_ns);
  /// The next line, which must be a `reply`.
  [[nodiscard]] base::result<pmi_line> receive(std::string_view reply, std::uint64_t deadline_ns);
  /// `count` bytes that follow a line as they are.
  [[nodiscard]] base::result<std::string> receive_bytes(std::size_t count,
                                                        std::uint64_t deadline_ns);
  /// `send`, then `receive`. `request` ends with a newline.
  [[nodiscard]] base::result<pmi_line> ask(std::string_view request, std::string_view reply,
                                           std::uint64_t deadline_ns);
  /// Returns when the server hung up or `deadline_ns` passed. Reads nothing.
  void wait_for_hang_up(std::uint64_t deadline_ns) noexcept;

 private:
  [[nodiscard]] base::result<> read_more(std::string_view awaited, std::uint64_t deadline_ns);

  int descriptor_;
  std::mutex send_lock_;  // cold: a request and an abort at the same time
  line_buffer received_;
};

/// `deadline_ns` of something that begins now: HEADWAY_START_TIMEOUT from here.
[[nodiscard]] std::uint64_t start_deadline_ns();

}  // namespace headway::launch
