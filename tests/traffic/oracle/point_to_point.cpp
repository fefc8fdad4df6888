#include "point_to_point.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace oracle {
namespace {

struct label {  // the first bytes of each message
  std::int32_t id, from, from_thread, number;
};

constexpr int tag_count = 5;
constexpr std::size_t window = 24;

int random_below(std::mt19937& random, int end) {
  return static_cast<int>(random() % static_cast<unsigned>(end));
}

}  // namespace

std::vector<message> make_plan(const settings& s) {
  std::mt19937 random(s.seed);
  std::map<std::tuple<int, int, int, int, int, int>, int> numbers;
  std::vector<message> plan;
  for (int id = 0; id < s.messages; ++id) {
    message m{};
    m.id = id;
    m.from = random_below(random, s.size);
    m.to = random_below(random, s.size);
    m.from_thread = random_below(random, s.threads);
    m.to_thread = random_below(random, s.threads);
    m.tag = random_below(random, tag_count) * 1000;
    m.how = static_cast<way>(random_below(random, way_count));
    m.mode = static_cast<send_mode>(random_below(random, mode_count));
    m.bytes = sizeof(label) + size_of(static_cast<std::uint32_t>(random()));
    m.number = numbers[{m.from, m.from_thread, m.to, m.to_thread, m.tag, m.how}]++;
    plan.push_back(m);
  }
  return plan;
}

std::size_t buffered_bytes(const settings& s, const std::vector<message>& plan) {
  std::size_t bytes = 0;
  for (const auto& m : plan)
    if (m.from == s.rank && m.mode == buffered_by_copy) bytes += m.bytes + MPI_BSEND_OVERHEAD;
  return bytes;
}

point_to_point::point_to_point(const settings& s, int thread,
                               const std::vector<communicators>& comms)
    : settings_(s), thread_(thread), comms_(comms) {}

void point_to_point::begin(const std::vector<message>& plan) {
  plan_ = &plan;
  random_.seed(settings_.seed * 977u + static_cast<unsigned>(settings_.rank * 64 + thread_));
  seen_.clear();
  received_ = 0;
  for (const auto& m : plan) {
    if (m.from == settings_.rank && m.from_thread == thread_) outgoing_.push_back(&m);
    if (m.to == settings_.rank && m.to_thread == thread_) wanted_.push_back(&m);
  }
  // Any order of posting is correct, because the receives of one stream are interchangeable.
  std::shuffle(wanted_.begin(), wanted_.end(), random_);
}

bool point_to_point::step() {
  const bool may_post = !wanted_.empty() && posted_.size() < window;
  if (!outgoing_.empty() && (!may_post || random_() % 2)) start_send();
  else if (may_post && random_() % 4) post();
  else if (!posted_.empty()) check_oldest();
  else if (may_post) post();
  return !outgoing_.empty() || !wanted_.empty() || !posted_.empty();
}

long point_to_point::finish() {
  for (auto& s : sends_) {
    MPI_Wait(&s.request, MPI_STATUS_IGNORE);
    if (s.persistent) MPI_Request_free(&s.request);
  }
  sends_.clear();
  return received_;
}

void point_to_point::start_send() {
  const message& m = *outgoing_.front();
  outgoing_.pop_front();
  sends_.push_back({MPI_REQUEST_NULL, std::vector<unsigned char>(m.bytes), false});
  started_send& s = sends_.back();
  const label l{m.id, m.from, m.from_thread, m.number};
  std::memcpy(s.bytes.data(), &l, sizeof l);
  std::memcpy(s.bytes.data() + sizeof l, contents(static_cast<std::uint32_t>(m.id)),
              m.bytes - sizeof l);
  const MPI_Comm comm = comms_[static_cast<std::size_t>(m.to_thread)].matching[m.how];
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

void point_to_point::post() {
  const message& m = *wanted_.back();
  wanted_.pop_back();
  const int source = m.how == by_source_and_tag || m.how == by_source ? m.from : MPI_ANY_SOURCE;
  const int tag = m.how == by_source_and_tag || m.how == by_tag ? m.tag : MPI_ANY_TAG;
  const MPI_Comm comm = comms_[static_cast<std::size_t>(thread_)].matching[m.how];
  // A receive with wildcards may match the longest message.
  if (rooms_.empty())
    rooms_.push_back(std::make_unique<std::vector<unsigned char>>(sizeof(label) + bytes_max));
  posted_.push_back({MPI_REQUEST_NULL, std::move(rooms_.back()), m.how});
  rooms_.pop_back();
  posted_receive& r = posted_.back();
  auto* const memory = r.memory->data();
  const int most = static_cast<int>(r.memory->size());
  if (m.how != anything || earlier_pending(anything) || random_() % 2) {
    MPI_Irecv(memory, most, MPI_BYTE, source, tag, comm, &r.request);
    return;
  }
  // A probe sees what a receive posted now would get, if none is posted before it.
  MPI_Message taken = MPI_MESSAGE_NULL;
  MPI_Status seen;
  int flag = 0;
  switch (random_() % 3) {
    case 0:
      MPI_Improbe(source, tag, comm, &flag, &taken, &seen);
      if (flag) MPI_Imrecv(memory, most, MPI_BYTE, &taken, &r.request);
      else MPI_Irecv(memory, most, MPI_BYTE, source, tag, comm, &r.request);
      break;
    case 1:
      MPI_Iprobe(source, tag, comm, &flag, &seen);
      MPI_Irecv(memory, most, MPI_BYTE, flag ? seen.MPI_SOURCE : source, flag ? seen.MPI_TAG : tag,
                comm, &r.request);
      break;
    default:
      MPI_Irecv(memory, most, MPI_BYTE, source, tag, comm, &r.request);
  }
}

bool point_to_point::earlier_pending(way how) const {
  return std::any_of(posted_.begin(), posted_.end() - 1,
                     [&](const posted_receive& r) { return r.how == how; });
}

void point_to_point::check_oldest() {
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
  std::memcpy(&l, r.memory->data(), sizeof l);
  if (l.id < 0 || l.id >= settings_.messages) wrong("a label that no rank wrote", l.id);
  const message& m = (*plan_)[static_cast<std::size_t>(l.id)];
  if (m.to != settings_.rank || m.to_thread != thread_ || m.how != r.how)
    wrong("a message went to the wrong place", m.id);
  if (status.MPI_SOURCE != m.from || status.MPI_TAG != m.tag) wrong("a wrong status", m.id);
  if (static_cast<std::size_t>(count) != m.bytes) wrong("a wrong length", m.id);
  if (std::memcmp(r.memory->data() + sizeof l, contents(static_cast<std::uint32_t>(m.id)),
                  m.bytes - sizeof l) != 0)
    wrong("a wrong byte in a message", m.id);
  if (seen_[{m.from, m.from_thread, m.tag, m.how}]++ != m.number)
    wrong("overtaken by a later message", m.id);
  ++received_;
  rooms_.push_back(std::move(r.memory));
  posted_.pop_front();
}

}  // namespace oracle
