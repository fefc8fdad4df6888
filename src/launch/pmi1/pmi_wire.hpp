#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "launch/pmi1/line_buffer.hpp"
#include "launch/pmi1/pmi_line.hpp"
#include "launch/settings.hpp"

namespace headway::launch {

/// The stream to a PMI-1 server, at the side of a rank: a request, then its reply.
/// Shape:    owns the descriptor. Its file flags stay as they were, because shells may share it;
///           every call here is non-blocking by itself.
/// Threads:  one; `send` also from others, each request whole.
/// Progress: waits for the server, at most until `deadline_ns` (base::machine_now_ns).
/// Errors:   `timed_out` names what was waited for; `peer_lost`: the server hung up; `bad_input`:
///           an unexpected reply.
class pmi_wire {
 public:
  pmi_wire(int descriptor, const settings& how);
  ~pmi_wire();
  pmi_wire(const pmi_wire&) = delete;
  pmi_wire& operator=(const pmi_wire&) = delete;

  /// When a wait that begins now times out.
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept { return how_.deadline_ns(); }
  [[nodiscard]] base::result<> send(std::string_view bytes, std::uint64_t deadline_ns);
  /// The next line, which must be a `reply`.
  [[nodiscard]] base::result<pmi_line> receive(std::string_view reply, std::uint64_t deadline_ns);
  /// `send`, then `receive`. `request` ends with a newline.
  [[nodiscard]] base::result<pmi_line> ask(std::string_view request, std::string_view reply,
                                           std::uint64_t deadline_ns);
  /// Returns when the server has hung up or `deadline_ns` has passed. Reads nothing.
  void wait_for_hang_up(std::uint64_t deadline_ns) noexcept;

 private:
  [[nodiscard]] base::result<> read_more(std::string_view awaited, std::uint64_t deadline_ns);
  [[nodiscard]] std::unexpected<base::fault> timed_out(std::string_view awaited) const;

  const settings how_;
  const int descriptor_;
  base::mutex send_lock_;  // cold: keeps a request and an abort apart on the stream
  line_buffer received_;
};

}  // namespace headway::launch
