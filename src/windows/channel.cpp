#include "windows/channel.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "messages/numbers.hpp"

namespace headway::windows {
namespace {

constexpr std::size_t request_bytes_min = 4096;  // of a message, whatever its rail prefers
constexpr std::size_t unreaped_max = 64;         // ended operations that are kept before a look

}  // namespace

struct channel::message final : pending_operation {
  explicit message(std::size_t room) noexcept : requests(room) {}
  request_buffer requests;
};

channel::channel(messages::exchange& exchange, messages::context& context, int target) noexcept
    : exchange_(exchange),
      context_(context),
      target_(target),
      message_bytes_max_(std::clamp(context.peer_of(target).eager_bytes_max() / 16 * 16,
                                    request_bytes_min, request_bytes_max)),
      collected_(message_bytes_max_) {
  HEADWAY_DEBUG_ASSERT(0 <= target && target < context.members->size());
}

void channel::begin(std::size_t bytes) {
  while (true) {
    lock.lock();
    if (deferred_ && bytes > message_bytes_max_ - collected_.size() - sizeof(request_head))
      request_lock();
    if (shows_grant_ && shows_grant_->done.test()) shows_grant_.reset();
    if (!shows_grant_) return;
    const auto granted = shows_grant_;
    lock.unlock();
    exchange_.engine().wait(granted->done);
  }
}

bool channel::defer_lock(lock_type how) {
  HEADWAY_DEBUG_ASSERT(!deferred_);
  if (!collected_.empty()) return false;
  static_cast<void>(append({.what = action::lock_rest, .lock = how}, {}));
  deferred_ = how;
  return true;
}

void channel::request_lock() {
  const request_head head{.what = action::lock, .lock = *std::exchange(deferred_, std::nullopt)};
  const auto rest = collected_.bytes().subspan(sizeof(request_head));
  const std::vector<std::byte> behind(rest.begin(), rest.end());
  collected_.clear();
  synchronise(head);
  shows_grant_ = pending_.back();
  std::ranges::copy(behind, collected_.add(behind.size()));
}

std::byte* channel::append(request_head head, std::span<const element_run> runs) {
  head.runs = static_cast<std::uint32_t>(runs.size());
  const auto bytes = sizeof head + runs.size_bytes() + padded(head.payload_bytes);
  HEADWAY_DEBUG_ASSERT(bytes <= message_bytes_max_);  // see `room`
  if (collected_.size() + bytes > message_bytes_max_) send();
  std::byte* const at = collected_.add(bytes);
  std::memcpy(at, &head, sizeof head);
  if (!runs.empty()) std::memcpy(at + sizeof head, runs.data(), runs.size_bytes());
  dirty_ |= head.what <= action::put_message || head.what == action::accumulate;
  unanswered_ |=
      head.what == action::released || head.what == action::look || head.what == action::complete;
  std::byte* const payload = at + sizeof head + runs.size_bytes();
  // The padding leaves the process, too.
  std::memset(payload + head.payload_bytes, 0, padded(head.payload_bytes) - head.payload_bytes);
  return payload;
}

void channel::send(const pending_ptr& answered) {
  HEADWAY_DEBUG_ASSERT(answered != nullptr);
  if (deferred_) shows_grant_ = answered;
  deferred_.reset();
  send();
}

void channel::send() {
  HEADWAY_DEBUG_ASSERT(!deferred_);  // see `begin`
  if (collected_.empty()) return;
  const bool again = sent_ != nullptr;
  auto sent = again ? std::exchange(sent_, nullptr) : std::make_shared<message>(message_bytes_max_);
  std::swap(sent->requests, collected_);
  auto& piece = again ? sent->add_again() : sent->add();
  sent->start();
  exchange_.send(context_, piece.wire, sent->requests.bytes(), target_,
                 messages::window_request_tag);
  if (sent->done.test() && sent->how() == status::ok) {  // most have left at once
    sent->requests.clear();
    std::swap(sent->requests, collected_);
    sent_ = std::move(sent);
    return;
  }
  keep(std::move(sent));
}

void channel::keep(pending_ptr operation) {
  HEADWAY_DEBUG_ASSERT(operation != nullptr);
  if (pending_.size() >= unreaped_max) drop_ended();
  pending_.push_back(std::move(operation));
}

void channel::drop_ended() {
  std::erase_if(pending_, [this](const pending_ptr& each) HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
    if (!each->done.test()) return false;
    worst_ = std::max(worst_, each->how());
    return true;
  });
}

std::int32_t channel::expect_answer(pending_operation::piece& piece,
                                    std::span<std::byte> memory) noexcept {
  const auto tag =
      messages::window_answer_tags.of(answers_.fetch_add(1, std::memory_order_relaxed));
  piece.bytes = memory.size();
  exchange_.receive(context_, piece.wire, memory, target_, tag);
  return tag;
}

std::int32_t channel::next_data_tag() noexcept {
  return messages::window_data_tags.of(data_.fetch_add(1, std::memory_order_relaxed));
}

void channel::send_data(pending_operation::piece& piece, std::span<const std::byte> bytes,
                        std::int32_t tag) noexcept {
  exchange_.send(context_, piece.wire, bytes, target_, tag);
}

void channel::synchronise(request_head head) {
  HEADWAY_DEBUG_ASSERT(head.what == action::flush || head.what == action::lock ||
                       head.what == action::unlock);
  struct synchronisation final : pending_operation {
    status answer = status::ok;
  };
  auto made = std::make_shared<synchronisation>();
  auto& piece = made->add();
  piece.on_end = [](pending_operation::piece& self) noexcept {
    const auto said = static_cast<const synchronisation&>(self.of).answer;
    self.how = said == status::ok ? status::ok : status::out_of_range;
  };
  head.tag = expect_answer(piece, std::as_writable_bytes(std::span(&made->answer, 1)));
  made->start();
  static_cast<void>(append(head, {}));
  if (head.what == action::unlock) deferred_.reset();  // nothing else of this epoch follows
  send(made);
  keep(std::move(made));
  if (head.what == action::lock) return;  // large puts need not have arrived when it is granted
  dirty_ = unanswered_ = large_ = false;
}

status channel::await(const pending_list& before) {
  for (const auto& each : before) exchange_.engine().wait(each->done);
  const base::lock_guard held(lock);
  drop_ended();
  return std::exchange(worst_, status::ok);
}

}  // namespace headway::windows
