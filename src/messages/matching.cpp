#include "messages/matching.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace headway::messages {
namespace {

parked* allocate(std::size_t payload_bytes) noexcept {
  void* memory = std::malloc(sizeof(parked) + payload_bytes);
  return memory ? new (memory) parked : nullptr;
}

}  // namespace

parked* park(packets::peer& from, const envelope& match,
             std::span<const std::byte> payload) noexcept {
  parked* message = allocate(payload.size());
  if (!message) return nullptr;
  message->from = &from;
  message->context = match.context;
  message->source = static_cast<int>(match.source);
  message->tag = match.tag;
  message->given_up = match.given_up != 0;
  message->bytes = payload.size();
  message->charge = eager_charge(payload.size());
  if (!payload.empty()) std::memcpy(message->data(), payload.data(), payload.size());
  return message;
}

parked* park(packets::peer& from, const offer& offered) noexcept {
  parked* message = park(from, offered.match, {});
  if (!message) return nullptr;
  message->is_offer = true;
  message->charge = 0;
  message->bytes = offered.bytes;
  message->send_id = offered.send_id;
  return message;
}

void unpark(parked* message) noexcept {
  message->~parked();
  std::free(message);
}

matcher::~matcher() {
  while (parked* message = arrivals_.pop_front()) unpark(message);
}

request* matcher::take_posted(int source, int tag) noexcept {
  auto& bin = posted_[bin_of(source, tag)];
  request* exact = bin.front();
  while (exact && !(exact->peer_rank_ == source && exact->tag_ == tag)) exact = bin.after(*exact);
  if (!wild_.empty()) {
    request* wild = wild_.front();
    while (wild && !pattern{wild->peer_rank_, wild->tag_}.admits(source, tag))
      wild = wild_.after(*wild);
    if (wild && (!exact || wild->order_ < exact->order_)) {
      wild_.erase(*wild);
      return wild;
    }
  }
  if (exact) bin.erase(*exact);
  return exact;
}

void matcher::post(request& r, pattern wanted) noexcept {
  r.order_ = ++posted_so_far_;
  if (wanted.wild()) {
    wild_.push_back(r);
  } else {
    posted_[bin_of(wanted.source, wanted.tag)].push_back(r);
  }
}

void matcher::withdraw(request& r, pattern wanted) noexcept {
  if (wanted.wild()) {
    wild_.erase(r);
  } else {
    posted_[bin_of(wanted.source, wanted.tag)].erase(r);
  }
}

parked* matcher::find_parked(pattern wanted) noexcept {
  if (wanted.wild()) {
    parked* message = arrivals_.front();
    while (message && !wanted.admits(message->source, message->tag))
      message = arrivals_.after(*message);
    return message;
  }
  auto& bin = parked_[bin_of(wanted.source, wanted.tag)];
  parked* message = bin.front();
  while (message && !wanted.admits(message->source, message->tag)) message = bin.after(*message);
  return message;
}

void matcher::add_parked(parked& message) noexcept {
  parked_[bin_of(message.source, message.tag)].push_back(message);
  arrivals_.push_back(message);
}

void matcher::remove_parked(parked& message) noexcept {
  parked_[bin_of(message.source, message.tag)].erase(message);
  arrivals_.erase(message);
}

}  // namespace headway::messages
