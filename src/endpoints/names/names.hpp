#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"
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

/// A question to the keeper of a name. It completes when its answer is known.
/// Shape:    stays where it is from its start until then, or until `names::cancel`.
/// Threads:  its owner reads the answer when it is complete.
struct question : progress::completion {
  outcome how = outcome::ok;
  address owner;       ///< of a look-up that ended well
  bool stale = false;  ///< `not_found`: its keeper does not know yet that the owner has died

 private:
  friend class names;
  std::string name_;
  name_head head_;
  std::uint32_t home_ = 0;
};

/// Names of end-points over all processes of the job: each name is kept by one process, found by
/// rendezvous hashing; when that dies, owners register again with the next and questions move.
/// Threads:  every function any thread. No lock is held across `name_transport::deliver`.
/// Progress: `wait`, `claim` and `find` wait at the engine until the answer or the deadline; the
///           rest never. A question that was started is answered in polling rounds.
/// Source:   pcor02 (docs/papers.md, mechanism 20).
class names {
 public:
  names(name_transport& post, progress::engine& engine, std::uint32_t self,
        std::uint32_t processes);

  /// Starts to make `name` that of our end-point `id`: `taken` if another one has it.
  void start_claim(question& q, std::string_view name, std::uint32_t id);
  /// Starts to look for the end-point that has the name. `waits`: until one has it; otherwise
  /// `not_found` if none has it now.
  void start_find(question& q, std::string_view name, bool waits);
  /// Takes the question back. False: it is complete, or will be at once.
  [[nodiscard]] bool cancel(question& q);
  /// The question's answer; `timed_out`: it was taken back at the deadline.
  [[nodiscard]] outcome wait(question& q, std::uint64_t deadline_ns);

  /// The same in one call each, with a wait.
  [[nodiscard]] outcome claim(std::string_view name, std::uint32_t id, std::uint64_t deadline_ns);
  void give_up(std::string_view name, std::uint32_t id);
  /// With a deadline of 0, `not_found` if none has it now.
  [[nodiscard]] outcome find(std::string_view name, std::uint64_t deadline_ns, address& owner);
  /// This end-point is closed: its cached name is wrong.
  void forget(address owner);

  void arrived(std::uint32_t from, const name_head& head, std::string_view name);
  void lost(std::uint32_t process);
  /// Ends every question as `not_joined`.
  void stop();

 private:
  struct letter {
    std::uint32_t to;
    name_head head;
    std::string name;
  };
  [[nodiscard]] std::uint32_t home_of(std::string_view name) HEADWAY_REQUIRES(lock_);
  /// Sends the question to its name's home.
  void ask(question& q);
  [[nodiscard]] letter address_to_home(question& q) HEADWAY_REQUIRES(lock_);
  void note_answer(question& q, const name_head& head) HEADWAY_REQUIRES(lock_);
  void answer(std::uint32_t from, const name_head& head);
  void add(std::uint32_t from, const name_head& head, std::string_view name);
  void remove(std::uint32_t from, const name_head& head, std::string_view name);

  name_transport& post_;
  progress::engine& engine_;
  const std::uint32_t self_;

  base::mutex lock_;  // cold; what it guards allocates
  std::vector<bool> living_ HEADWAY_GUARDED_BY(lock_);
  directory kept_ HEADWAY_GUARDED_BY(lock_);
  std::map<std::string, address, std::less<>> known_ HEADWAY_GUARDED_BY(lock_);
  std::map<std::string, std::uint32_t, std::less<>> own_ HEADWAY_GUARDED_BY(lock_);
  std::map<std::uint32_t, question*> asked_ HEADWAY_GUARDED_BY(lock_);
  std::uint32_t tokens_ HEADWAY_GUARDED_BY(lock_) = 0;
  bool stopped_ HEADWAY_GUARDED_BY(lock_) = false;
};

}  // namespace headway::endpoints
