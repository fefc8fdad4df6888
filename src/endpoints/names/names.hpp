#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "endpoints/delivery/outcome.hpp"
#include "endpoints/names/directory.hpp"
#include "endpoints/wire/wire.hpp"
#include "progress/core/engine.hpp"

namespace headway::endpoints {

/// How the name service reaches other processes.
class name_transport {
 public:
  /// Sends a name packet. To itself too: `names::arrived` is called then, before it returns.
  virtual void deliver(std::uint32_t process, const name_head& head, std::string_view name) = 0;

 protected:
  ~name_transport() = default;
};

/// Names of end-points over all processes of the job: each name is kept by one process, found by
/// rendezvous hashing; when that dies, owners register again with the next and questions move.
/// Threads:  every function any thread. No lock is held across `name_transport::deliver`.
/// Progress: `claim` and `find` wait at the engine until the answer or the deadline.
/// Source:   pcor02 (docs/papers.md, mechanism 20).
class names {
 public:
  names(name_transport& post, progress::engine& engine, std::uint32_t self,
        std::uint32_t processes);

  /// Makes `name` that of our end-point `id`.
  [[nodiscard]] outcome claim(std::string_view name, std::uint32_t id, std::uint64_t deadline_ns);
  void give_up(std::string_view name, std::uint32_t id);
  /// The end-point that has it. With a deadline of 0, `not_found` if none has it now.
  [[nodiscard]] outcome find(std::string_view name, std::uint64_t deadline_ns, address& who);
  /// This end-point is closed: its cached name is wrong.
  void forget(address who);

  void arrived(std::uint32_t from, const name_head& head, std::string_view name);
  void lost(std::uint32_t process);
  /// Ends every question as `not_joined`.
  void stop();

 private:
  struct question : progress::completion {
    std::string_view name;
    std::uint32_t home = 0;
    std::uint8_t status = 0;
    address who;
    bool moved = false;  // its home died: ask again
    bool stopped = false;
  };
  [[nodiscard]] bool lives(std::uint32_t process);
  [[nodiscard]] std::uint32_t home_of(std::string_view name) HEADWAY_REQUIRES(lock_);
  /// Sends `head` to the name's home and waits for the answer. False: the deadline passed.
  [[nodiscard]] bool ask(question& q, name_head head, std::string_view name,
                         std::uint64_t deadline_ns);
  void answer(std::uint32_t from, const name_head& head);
  void add(std::uint32_t from, const name_head& head, std::string_view name);
  void remove(std::uint32_t from, const name_head& head, std::string_view name);

  name_transport& post_;
  progress::engine& engine_;
  const std::uint32_t self_;

  base::spinlock lock_;
  std::vector<bool> living_ HEADWAY_GUARDED_BY(lock_);
  directory kept_ HEADWAY_GUARDED_BY(lock_);
  std::map<std::string, address, std::less<>> known_ HEADWAY_GUARDED_BY(lock_);
  std::map<std::string, std::uint32_t, std::less<>> own_ HEADWAY_GUARDED_BY(lock_);
  std::map<std::uint32_t, question*> asked_ HEADWAY_GUARDED_BY(lock_);
  std::uint32_t tokens_ HEADWAY_GUARDED_BY(lock_) = 0;
  bool stopped_ HEADWAY_GUARDED_BY(lock_) = false;
};

}  // namespace headway::endpoints
