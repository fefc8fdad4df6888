// Random traffic whose bytes and order every rank computes beforehand.
//
//   mpiexec -n RANKS oracle [--seed S] [--threads T] [--messages M]
//
// From the seed each rank computes the same plan: M messages between random threads of random
// ranks, of random size and mode. Each receiving thread has four communicators, one for each way of
// matching: by source and tag, by tag, by source, and for anything (receives, probes, matched
// probes). A message contains its sender and its number among those of its sender, tag and
// communicator; receives are checked in the order of posting, in which those numbers must rise by
// one (MPI-5.0, 3.5), and every byte of the contents follows from the number of the message. Exit
// code 0: everything was correct.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

namespace {

enum way { by_source_and_tag, by_tag, by_source, anything, way_count };
enum send_mode { standard, synchronous, buffered_by_copy, persistent, mode_count };

struct settings {
  std::uint32_t seed = 1;
  int threads = 2;
  int messages = 2000;
  int rank = 0, size = 1;
};

struct message {
  int id, from, from_thread, to, to_thread, tag;
  way how;
  send_mode mode;
  std::size_t bytes;
  int number;  // among those of the same sender, receiver, tag and communicator
};

struct label {  // the first bytes of each message
  std::int32_t id, from, from_thread, number;
};

constexpr int tag_count = 5;
constexpr std::size_t window = 24;

[[noreturn]] void wrong(const char* what, int id) {
  std::fprintf(stderr, "oracle: %s (message %d)\n", what, id);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

std::size_t random_size(std::mt19937& random) {
  switch (random() % 16) {
    case 0:
      return random() % (300 << 10);
    case 1:
    case 2:
      return random() % (20 << 10);
    case 3:
      return 0;
    default:
      return random() % 200;
  }
}

std::vector<message> make_plan(const settings& s) {
  std::mt19937 random(s.seed);
  std::map<std::tuple<int, int, int, int, int, int>, int> numbers;
  std::vector<message> plan;
  for (int id = 0; id < s.messages; ++id) {
    message m{};
    m.id = id;
    m.from = static_cast<int>(random() % static_cast<unsigned>(s.size));
    m.to = static_cast<int>(random() % static_cast<unsigned>(s.size));
    m.from_thread = static_cast<int>(random() % static_cast<unsigned>(s.threads));
    m.to_thread = static_cast<int>(random() % static_cast<unsigned>(s.threads));
    m.tag = static_cast<int>(random() % tag_count) * 1000;
    m.how = static_cast<way>(random() % way_count);
    m.mode = static_cast<send_mode>(random() % mode_count);
    m.bytes = sizeof(label) + random_size(random);
    m.number = numbers[{m.from, m.from_thread, m.to, m.to_thread, m.tag, m.how}]++;
    plan.push_back(m);
  }
  return plan;
}

unsigned char byte_of(int id, std::size_t i) {
  return static_cast<unsigned char>((static_cast<unsigned>(id) * 2654435761u + i * 40503u) >> 7);
}

class worker {
 public:
  worker(const settings& s, const std::vector<message>& plan, int thread,
         const std::vector<std::array<MPI_Comm, way_count>>& comms)
      : settings_(s),
        plan_(plan),
        thread_(thread),
        comms_(comms),
        random_(s.seed * 977u + static_cast<unsigned>(s.rank * 64 + thread)) {}

  void run() {
    for (const auto& m : plan_) {
      if (m.from == settings_.rank && m.from_thread == thread_) outgoing_.push_back(&m);
      if (m.to == settings_.rank && m.to_thread == thread_) wanted_.push_back(&m);
    }
    // Any order of posting is correct, because the receives of one stream are interchangeable.
    std::shuffle(wanted_.begin(), wanted_.end(), random_);
    while (!outgoing_.empty() || !wanted_.empty() || !posted_.empty()) step();
    for (auto& s : sends_) finish_send(s);
  }

 private:
  struct posted_receive {
    MPI_Request request;
    std::vector<unsigned char> room;
    way how;
  };
  struct started_send {
    MPI_Request request;
    std::vector<unsigned char> bytes;
    bool persistent;
  };

  void step() {
    const bool may_post = !wanted_.empty() && posted_.size() < window;
    if (!outgoing_.empty() && (!may_post || random_() % 2)) return start_send();
    if (may_post && random_() % 4) return post();
    if (!posted_.empty()) return check_oldest();
    if (may_post) post();
  }

  void start_send() {
    const message& m = *outgoing_.front();
    outgoing_.pop_front();
    sends_.push_back({MPI_REQUEST_NULL, std::vector<unsigned char>(m.bytes), false});
    started_send& s = sends_.back();
    const label l{m.id, m.from, m.from_thread, m.number};
    std::memcpy(s.bytes.data(), &l, sizeof l);
    for (std::size_t i = sizeof l; i < m.bytes; ++i) s.bytes[i] = byte_of(m.id, i);
    const MPI_Comm comm = comms_[static_cast<std::size_t>(m.to_thread)][m.how];
    const int count = static_cast<int>(m.bytes);
    switch (m.mode) {
      case synchronous:
        MPI_Issend(s.bytes.data(), count, MPI_BYTE, m.to, m.tag, comm, &s.request);
        break;
      case buffered_by_copy:
        MPI_Ibsend(s.bytes.data(), count, MPI_BYTE, m.to, m.tag, comm, &s.request);
        break;
      case persistent:
        s.persistent = true;
        MPI_Send_init(s.bytes.data(), count, MPI_BYTE, m.to, m.tag, comm, &s.request);
        MPI_Start(&s.request);
        break;
      default:
        MPI_Isend(s.bytes.data(), count, MPI_BYTE, m.to, m.tag, comm, &s.request);
    }
    int done = 0;
    if (!s.persistent && random_() % 8 == 0) MPI_Test(&s.request, &done, MPI_STATUS_IGNORE);
  }

  void finish_send(started_send& s) {
    MPI_Wait(&s.request, MPI_STATUS_IGNORE);
    if (s.persistent) MPI_Request_free(&s.request);
  }

  void post() {
    const message& m = *wanted_.back();
    wanted_.pop_back();
    const int source = m.how == by_source_and_tag || m.how == by_source ? m.from : MPI_ANY_SOURCE;
    const int tag = m.how == by_source_and_tag || m.how == by_tag ? m.tag : MPI_ANY_TAG;
    const MPI_Comm comm = comms_[static_cast<std::size_t>(thread_)][m.how];
    posted_.push_back({MPI_REQUEST_NULL, std::vector<unsigned char>(longest()), m.how});
    posted_receive& r = posted_.back();
    const int room = static_cast<int>(r.room.size());
    if (m.how != anything || earlier_pending(anything) || random_() % 2) {
      MPI_Irecv(r.room.data(), room, MPI_BYTE, source, tag, comm, &r.request);
      return;
    }
    // A probe sees what a receive posted now would get, if none is posted before it.
    MPI_Message taken = MPI_MESSAGE_NULL;
    MPI_Status seen;
    int flag = 0;
    switch (random_() % 3) {
      case 0:
        MPI_Improbe(source, tag, comm, &flag, &taken, &seen);
        if (flag) {
          MPI_Imrecv(r.room.data(), room, MPI_BYTE, &taken, &r.request);
        } else {
          MPI_Irecv(r.room.data(), room, MPI_BYTE, source, tag, comm, &r.request);
        }
        break;
      case 1:
        MPI_Iprobe(source, tag, comm, &flag, &seen);
        MPI_Irecv(r.room.data(), room, MPI_BYTE, flag ? seen.MPI_SOURCE : source,
                  flag ? seen.MPI_TAG : tag, comm, &r.request);
        break;
      default:
        MPI_Irecv(r.room.data(), room, MPI_BYTE, source, tag, comm, &r.request);
    }
  }

  bool earlier_pending(way how) const {
    return std::any_of(posted_.begin(), posted_.end() - 1,
                       [&](const posted_receive& r) { return r.how == how; });
  }

  // The longest message possible: a receive with wildcards may match any.
  std::size_t longest() const { return sizeof(label) + (300 << 10); }

  void check_oldest() {
    posted_receive& r = posted_.front();
    MPI_Status status;
    int done = 0;
    if (outgoing_.empty() && random_() % 2) {
      MPI_Wait(&r.request, &status);
    } else {  // to wait before everything is sent could deadlock
      MPI_Test(&r.request, &done, &status);
      if (!done) return;
    }
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    label l;
    std::memcpy(&l, r.room.data(), sizeof l);
    if (l.id < 0 || l.id >= settings_.messages) wrong("a label that no rank wrote", l.id);
    const message& m = plan_[static_cast<std::size_t>(l.id)];
    if (m.to != settings_.rank || m.to_thread != thread_ || m.how != r.how)
      wrong("a message went to the wrong place", m.id);
    if (status.MPI_SOURCE != m.from || status.MPI_TAG != m.tag) wrong("a wrong status", m.id);
    if (static_cast<std::size_t>(count) != m.bytes) wrong("a wrong length", m.id);
    for (std::size_t i = sizeof l; i < m.bytes; ++i)
      if (r.room[i] != byte_of(m.id, i)) wrong("a wrong byte", m.id);
    if (seen_[{m.from, m.from_thread, m.tag, m.how}]++ != m.number)
      wrong("overtaken by a later message", m.id);
    posted_.pop_front();
  }

  const settings& settings_;
  const std::vector<message>& plan_;
  const int thread_;
  const std::vector<std::array<MPI_Comm, way_count>>& comms_;
  std::mt19937 random_;
  std::deque<const message*> outgoing_;
  std::vector<const message*> wanted_;
  std::deque<started_send> sends_;
  std::deque<posted_receive> posted_;
  std::map<std::tuple<int, int, int, int>, int> seen_;
};

settings read_settings(int argc, char** argv) {
  settings s;
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto value = std::strtol(argv[i + 1], nullptr, 10);
    if (!std::strcmp(argv[i], "--seed")) s.seed = static_cast<std::uint32_t>(value);
    if (!std::strcmp(argv[i], "--threads")) s.threads = static_cast<int>(value);
    if (!std::strcmp(argv[i], "--messages")) s.messages = static_cast<int>(value);
  }
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  settings s = read_settings(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.size);
  if (provided != MPI_THREAD_MULTIPLE) wrong("MPI_THREAD_MULTIPLE is not provided", -1);

  const auto plan = make_plan(s);
  std::vector<char> buffer(static_cast<std::size_t>(s.messages) * MPI_BSEND_OVERHEAD);
  for (const auto& m : plan)
    if (m.from == s.rank && m.mode == buffered_by_copy)
      buffer.resize(buffer.size() + m.bytes + MPI_BSEND_OVERHEAD);
  MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));

  std::vector<std::array<MPI_Comm, way_count>> comms(static_cast<std::size_t>(s.threads));
  for (auto& of_thread : comms)
    for (auto& comm : of_thread) MPI_Comm_dup(MPI_COMM_WORLD, &comm);

  std::vector<std::thread> threads;
  for (int t = 0; t < s.threads; ++t)
    threads.emplace_back([&, t] { worker(s, plan, t, comms).run(); });
  for (auto& t : threads) t.join();

  void* detached = nullptr;
  int detached_bytes = 0;
  MPI_Buffer_detach(&detached, &detached_bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  for (auto& of_thread : comms)
    for (auto& comm : of_thread) MPI_Comm_free(&comm);
  if (s.rank == 0) std::printf("oracle: seed %u: %d messages as planned\n", s.seed, s.messages);
  MPI_Finalize();
  return 0;
}
