#include "datatypes/signature.hpp"

#include <utility>

#include "base/assert.hpp"

namespace headway::datatypes {
namespace {

signature_ptr share(signature made) { return std::make_shared<const signature>(std::move(made)); }

bool same_run(const signature& a, const signature& b) noexcept {
  return a.shape == signature::form::run && b.shape == signature::form::run && a.kind == b.kind;
}

}  // namespace

signature_ptr run_signature(number kind, std::int64_t count) {
  HEADWAY_ASSERT(count >= 0);
  if (count == 0) return nullptr;
  return share({.shape = signature::form::run,
                .kind = kind,
                .count = count,
                .elements = count,
                .bytes = count * bytes_of(kind)});
}

signature_ptr repeat(const signature_ptr& what, std::int64_t count) {
  HEADWAY_ASSERT(count >= 0);
  if (!what || count == 0) return nullptr;
  if (count == 1) return what;
  if (what->shape == signature::form::run) return run_signature(what->kind, what->count * count);
  const bool loop = what->shape == signature::form::loop;
  return share({.shape = signature::form::loop,
                .count = loop ? what->count * count : count,
                .child = loop ? what->child : what,
                .elements = what->elements * count,
                .bytes = what->bytes * count});
}

signature_ptr join(const std::vector<signature_ptr>& parts) {
  signature made{.shape = signature::form::list};
  for (const auto& part : parts) {
    if (!part) continue;
    made.elements += part->elements;
    made.bytes += part->bytes;
    if (!made.parts.empty() && same_run(*made.parts.back(), *part)) {
      made.parts.back() = run_signature(part->kind, made.parts.back()->count + part->count);
    } else {
      made.parts.push_back(part);
    }
  }
  if (made.parts.empty()) return nullptr;
  if (made.parts.size() == 1) return made.parts.front();
  return share(std::move(made));
}

std::int64_t elements_in(const signature& s, std::int64_t bytes) noexcept {
  if (bytes >= s.bytes) return bytes == s.bytes ? s.elements : -1;
  if (s.shape == signature::form::run) {
    const auto each = bytes_of(s.kind);
    return bytes % each == 0 ? bytes / each : -1;
  }
  if (s.shape == signature::form::loop) {
    const auto rounds = bytes / s.child->bytes;
    const auto rest = elements_in(*s.child, bytes - rounds * s.child->bytes);
    return rest < 0 ? -1 : rounds * s.child->elements + rest;
  }
  std::int64_t elements = 0;
  for (const auto& part : s.parts) {
    if (bytes < part->bytes) {
      const auto rest = elements_in(*part, bytes);
      return rest < 0 ? -1 : elements + rest;
    }
    elements += part->elements;
    bytes -= part->bytes;
  }
  return elements;
}

}  // namespace headway::datatypes
