// Owners, in C++17, of what headway/endpoint.h gives out. Link as for that header, or with CMake
// `find_package(headway)` and the target headway::headway.
//
// Threads:  as the C functions; one object is moved and destroyed by one thread at a time.
// Progress: as the C functions.
// Errors:   `headway::error`, whose text is that of headway_error_text. That a limit has passed is
//           no error: the functions return false, or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "headway/endpoint.h"

namespace headway {

class error : public std::runtime_error {
 public:
  explicit error(int status) : std::runtime_error(headway_error_text()), status_(status) {}
  [[nodiscard]] int status() const noexcept { return status_; }

 private:
  int status_;
};

// Throws if the call has failed. False: its limit has passed.
inline bool check(int status) {
  if (status < 0) throw error(status);
  return status == HEADWAY_OK;
}

// A buffer of messages, which is released with its owner.
class buffer {
 public:
  buffer() = default;
  explicit buffer(std::size_t bytes) { check(headway_buffer_request(bytes, &data_)); }
  // Takes over a buffer that the C interface has given out.
  static buffer adopt(void* data) noexcept {
    buffer taken;
    taken.data_ = data;
    return taken;
  }
  buffer(buffer&& other) noexcept : data_(other.give()) {}
  buffer& operator=(buffer&& other) noexcept {
    if (this != &other) {
      reset();
      data_ = other.give();
    }
    return *this;
  }
  ~buffer() { reset(); }

  void reset() noexcept {
    if (data_ != nullptr) static_cast<void>(headway_buffer_release(give()));
  }
  // The buffer is the caller's to release.
  [[nodiscard]] void* give() noexcept { return std::exchange(data_, nullptr); }

  [[nodiscard]] void* data() const noexcept { return data_; }
  template <class Element>
  [[nodiscard]] Element* as() const noexcept {
    return static_cast<Element*>(data_);
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return headway_buffer_capacity(data_); }
  explicit operator bool() const noexcept { return data_ != nullptr; }

 private:
  void* data_ = nullptr;
};

// A received message with its buffer; an empty one has none.
struct message {
  buffer data;
  std::size_t bytes;
  std::int32_t tag;
  headway_address from;
};

// An end-point, which is closed with its owner.
class endpoint {
 public:
  // Without a name, it cannot be looked up.
  explicit endpoint(const std::string& name = {}) {
    check(headway_endpoint_open(name.c_str(), &number_));
  }
  endpoint(endpoint&& other) noexcept : number_(std::exchange(other.number_, 0)) {}
  endpoint& operator=(endpoint&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~endpoint() {
    if (number_ != 0) static_cast<void>(headway_endpoint_close(number_));
  }

  [[nodiscard]] headway_endpoint number() const noexcept { return number_; }
  [[nodiscard]] headway_address address() const { return headway_endpoint_address(number_); }

  // Gives the buffer away. False: the limit has passed, and the buffer is still there.
  [[nodiscard]] bool send(headway_address to, std::int32_t tag, buffer& from, std::size_t bytes,
                          std::int64_t limit_ns = HEADWAY_FOREVER) {
    if (!check(headway_endpoint_send(number_, to, tag, from.data(), bytes, limit_ns))) return false;
    static_cast<void>(from.give());
    return true;
  }
  [[nodiscard]] bool send_copy(headway_address to, std::int32_t tag, const void* data,
                               std::size_t bytes, std::int64_t limit_ns = HEADWAY_FOREVER) {
    return check(headway_endpoint_send_copy(number_, to, tag, data, bytes, limit_ns));
  }
  // Nothing: the limit has passed.
  [[nodiscard]] std::optional<message> receive(std::int32_t tag = HEADWAY_ANY_TAG,
                                               std::int64_t limit_ns = HEADWAY_FOREVER,
                                               const headway_address* from = nullptr) {
    headway_message got;
    if (!check(headway_endpoint_receive(number_, tag, from, limit_ns, &got))) return std::nullopt;
    return message{buffer::adopt(got.data), got.bytes, got.tag, got.from};
  }

 private:
  headway_endpoint number_ = 0;
};

// The end-point of this name, which may be in any process of the job. Nothing: the limit has
// passed, or there is none now (HEADWAY_NO_WAIT).
[[nodiscard]] inline std::optional<headway_address> lookup(
    const std::string& name, std::int64_t limit_ns = HEADWAY_FOREVER) {
  headway_address found;
  const int status = headway_endpoint_lookup(name.c_str(), limit_ns, &found);
  if (status == HEADWAY_NOT_FOUND || !check(status)) return std::nullopt;
  return found;
}

}  // namespace headway
