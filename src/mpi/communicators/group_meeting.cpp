#include "mpi/communicators/group_meeting.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "collectives/collectives.hpp"
#include "collectives/schedule_run.hpp"
#include "launch/identity.hpp"
#include "mpi/communicators/context_agreement.hpp"
#include "mpi/communicators/creation.hpp"
#include "mpi/communicators/incarnations.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"

namespace headway::mpi {
namespace {

using byte_block = std::vector<std::byte>;

/// A process's name, as the leaders exchange it.
struct process_name {
  std::uint64_t job = 0;
  std::uint64_t rank = 0;
};
using process_names = std::vector<process_name>;

constexpr const char* process_gone = "a process of the communicator is gone";

process_names names_of(const processes::membership& members) {
  process_names made;
  for (const auto process : members.peers()) {
    const auto name = the_library.runtime->name_of(process);
    made.push_back({name.job, name.rank});
  }
  return made;
}

/// The jobs of these processes, each once, in the order in which they come.
std::vector<std::uint64_t> jobs_of(const process_names& names) {
  std::vector<std::uint64_t> jobs;
  for (const auto& name : names)
    if (std::ranges::find(jobs, name.job) == jobs.end()) jobs.push_back(name.job);
  return jobs;
}

/// What the leader learns first, and tells its group.
struct verdict {
  int code = MPI_SUCCESS;  ///< why there is no other group
  int is_first = 0;        ///< the other group comes first
  std::uint32_t number = 0;
};

/// What a process tells the other group of itself: its record, and its job's contribution to the
/// keys with each job of the other group.
struct introduction {
  byte_block record;
  std::vector<launch::job_secret> contributions;

  [[nodiscard]] byte_block packed() const {
    byte_block made(2 * sizeof(std::uint64_t));
    const std::uint64_t counts[] = {record.size(), contributions.size()};
    std::memcpy(made.data(), counts, sizeof counts);
    made.insert(made.end(), record.begin(), record.end());
    for (const auto& one : contributions) made.insert(made.end(), one.begin(), one.end());
    return made;
  }
  /// Takes one from the beginning of `from`. Nothing: it is cut short.
  [[nodiscard]] static std::optional<introduction> take(std::span<const std::byte>& from) {
    std::uint64_t counts[2];
    constexpr auto each = sizeof(launch::job_secret);
    if (from.size() < sizeof counts) return std::nullopt;
    std::memcpy(counts, from.data(), sizeof counts);
    from = from.subspan(sizeof counts);
    if (counts[0] > from.size() || counts[1] > (from.size() - counts[0]) / each)
      return std::nullopt;
    introduction made;
    const auto record = from.first(counts[0]);
    made.record.assign(record.begin(), record.end());
    made.contributions.resize(counts[1]);
    if (counts[1] != 0)
      std::memcpy(made.contributions.data(), from.data() + counts[0], counts[1] * each);
    from = from.subspan(counts[0] + counts[1] * each);
    return made;
  }
};

/// One process's part in the meeting of its group with another one.
class participant {
 public:
  participant(communicator& local, int leader, const meeting& of_leader)
      : local_(local), leader_(leader), is_leader_(local.rank() == leader), own_(of_leader) {}

  [[nodiscard]] int run(communicator*& made) {
    if (const int code = begin()) return code;
    if (!trade(as_bytes(ours_), theirs_)) return lost();
    if (jobs_meet())
      if (const int code = introduce_all()) return code;
    return open(made);
  }

 private:
  [[nodiscard]] static int lost() { return fail(MPI_ERR_PROC_ABORTED, process_gone); }

  template <class T>
  [[nodiscard]] static std::span<const std::byte> as_bytes(const std::vector<T>& values) {
    return std::as_bytes(std::span(values));
  }

  /// Broadcast from the leader. False: a process is gone.
  [[nodiscard]] bool tell(std::span<std::byte> data) {
    collectives::schedule_run steps;
    const collectives::block all{data.data(), static_cast<std::int64_t>(data.size()),
                                 &datatypes::layout::of(datatypes::number::uint8)};
    collectives::bcast(steps, local_.team(), all, leader_);
    steps.bind(local_.team(), {.what = collectives::collective::intercomm_create, .root = leader_});
    return steps.run() == messages::outcome::ok;
  }
  template <class T>
  [[nodiscard]] bool tell_value(T& value) {
    return tell(std::as_writable_bytes(std::span(&value, 1)));
  }

  /// The leader's verdict, known to the whole group.
  [[nodiscard]] int begin() {
    verdict found;
    if (is_leader_ && own_.channel == nullptr) found.code = own_.code;
    else if (is_leader_)
      found = {.is_first = own_.channel->remote_is_first(), .number = own_.channel->number()};
    if (!tell_value(found)) return lost();
    if (found.code != MPI_SUCCESS)
      return fail_with(found.code, is_leader_ ? own_.why
                                              : "the leader of this group has not reached the "
                                                "leader of the other one");
    is_first_ = found.is_first != 0;
    number_ = found.number;
    ours_ = names_of(local_.members());
    return MPI_SUCCESS;
  }

  /// The leaders exchange blocks, and each tells its group the other one's. An empty block says
  /// that a group has lost a process, and ends the meeting on both sides.
  [[nodiscard]] bool trade_bytes(std::span<const std::byte> mine, byte_block& theirs) {
    std::uint64_t count = 0;
    if (is_leader_ && own_.channel->swap(mine, theirs)) count = theirs.size();
    if (!tell_value(count)) return give_up();
    if (count == 0) return false;
    theirs.resize(count);
    return tell(theirs) || give_up();
  }
  template <class T>
  [[nodiscard]] bool trade(std::span<const std::byte> mine, std::vector<T>& theirs) {
    byte_block raw;
    if (!trade_bytes(mine, raw)) return false;
    theirs.resize(raw.size() / sizeof(T));
    std::memcpy(static_cast<void*>(theirs.data()), raw.data(), theirs.size() * sizeof(T));
    return true;
  }
  /// This group has lost a process: the other leader, which waits for the next block, is told.
  bool give_up() {
    byte_block ignored;
    if (is_leader_) static_cast<void>(own_.channel->swap({}, ignored));
    return false;
  }

  [[nodiscard]] bool jobs_meet() const {
    const auto own_jobs = jobs_of(ours_), their_jobs = jobs_of(theirs_);
    return own_jobs.size() > 1 || own_jobs != their_jobs;
  }

  /// The introductions of this group's processes, in their order. Empty: one is gone.
  [[nodiscard]] byte_block gather_introductions(const introduction& mine) {
    auto packed = mine.packed();
    std::vector<std::uint64_t> sizes;
    if (!gather_values(local_, static_cast<std::uint64_t>(packed.size()), sizes)) return {};
    const auto longest = *std::ranges::max_element(sizes);
    packed.resize(longest);
    byte_block padded, all;
    if (!gather_from_all(local_, local_.next_agreement_tag(), packed, padded)) return {};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto one = std::span(padded).subspan(i * longest, sizes[i]);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  /// Every process gets what it needs to reach those of the other group.
  [[nodiscard]] int introduce_all() {
    auto& runtime = *the_library.runtime;
    introduction mine;
    auto record = runtime.own_record();
    if (!record) return fail_as(record.error());
    mine.record = std::move(*record);
    for (const auto job : jobs_of(theirs_))
      mine.contributions.push_back(runtime.contribution_for(job));
    const auto ours = gather_introductions(mine);
    if (ours.empty()) {
      static_cast<void>(give_up());
      return lost();
    }
    byte_block theirs;
    if (!trade_bytes(ours, theirs)) return lost();
    const auto own_job = runtime.name_of(this_process()).job;
    const auto own_jobs = jobs_of(ours_);
    const auto place = std::ranges::find(own_jobs, own_job) - own_jobs.begin();
    std::span<const std::byte> left = theirs;
    for (const auto& name : theirs_) {
      const auto one = introduction::take(left);
      if (!one || one->contributions.size() != own_jobs.size()) return give_up_on(MPI_ERR_OTHER);
      if (name.job != own_job)
        runtime.share_key_with(name.job, one->contributions[static_cast<std::size_t>(place)]);
      const auto known =
          runtime.introduce({name.job, static_cast<std::uint32_t>(name.rank)}, one->record);
      if (!known) return give_up_on(MPI_ERR_OTHER);
    }
    return MPI_SUCCESS;
  }
  [[nodiscard]] int give_up_on(int code) {
    static_cast<void>(give_up());
    return fail(code, "what the other group's processes say of themselves makes no sense");
  }

  [[nodiscard]] processes::membership_ref others() const {
    std::vector<processes::peer_id> members;
    for (const auto& name : theirs_)  // known: of this job, or introduced
      members.push_back(
          *the_library.runtime->introduce({name.job, static_cast<std::uint32_t>(name.rank)}, {}));
    return memberships().intern(members);
  }

  /// One round of the agreement (context_id_choice.hpp): first in this group, then in both.
  [[nodiscard]] bool combine_all(context_id_choice& choice) {
    const auto own = choice.contribution();
    const auto each = own.size();
    byte_block all;
    if (!gather_from_all(local_, local_.next_agreement_tag(), own, all)) return give_up();
    for (std::size_t at = 0; at < all.size(); at += each) {
      std::memcpy(choice.incoming().data(), all.data() + at, each);
      choice.combine();
    }
    byte_block theirs;
    const byte_block combined(choice.contribution().begin(), choice.contribution().end());
    if (!trade_bytes(combined, theirs) || theirs.size() != each) return false;
    std::memcpy(choice.incoming().data(), theirs.data(), each);
    choice.combine();
    return true;
  }

  [[nodiscard]] int open(communicator*& made) {
    reap_communicators();
    const auto remote = others();
    if (std::ranges::any_of(remote->peers(), [&](processes::peer_id process) {
          return local_.members().contains(process);
        }))
      return fail(MPI_ERR_COMM, "the two groups have a process in common");
    context_id_choice choice(all_context_ids(), number_, new_incarnation());
    choice.begin();
    do {
      if (!combine_all(choice)) return lost();
    } while (!choice.conclude());
    if (choice.id() == context_id_none)
      return fail(MPI_ERR_OTHER,
                  "the processes could not agree on a context: there are too many communicators");
    made = make_communicator(local_, local_.shared_members(), local_.rank(),
                             communicator::remote_side{.members = remote, .is_first = is_first_});
    made->open(choice.id(), choice.incarnation());
    return MPI_SUCCESS;
  }

  communicator& local_;
  const int leader_;
  const bool is_leader_;
  const meeting& own_;
  bool is_first_ = false;
  std::uint32_t number_ = 0;
  process_names ours_, theirs_;
};

}  // namespace

int meet_group(communicator& local, int leader, const meeting& of_leader, communicator*& made) {
  return participant(local, leader, of_leader).run(made);
}

}  // namespace headway::mpi
