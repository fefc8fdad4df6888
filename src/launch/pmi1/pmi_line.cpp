#include "launch/pmi1/pmi_line.hpp"

#include <charconv>

namespace headway::launch {
namespace {

/// The end of the word that begins at `from`: the next space without a backslash before it.
std::size_t end_of_word(std::string_view text, std::size_t from) noexcept {
  std::size_t at = from;
  while (at < text.size() && text[at] != ' ') at += text[at] == '\\' ? 2 : 1;
  return at < text.size() ? at : text.size();
}

}  // namespace

std::optional<pmi_line> pmi_line::parse(std::string_view line) {
  pmi_line parsed;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  parsed.text_ = line;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == ' ') {
      ++at;
      continue;
    }
    const auto end = end_of_word(line, at);
    const auto equals = line.substr(at, end - at).find('=');
    if (equals != std::string_view::npos) {
      if (parsed.fields_.size() == fields_max) return std::nullopt;
      const auto value = at + equals + 1;
      parsed.fields_.push_back({{at, equals}, {value, end - value}});
    }
    at = end;
  }
  if (parsed.fields_.empty() || parsed.command().empty()) return std::nullopt;
  const auto first = parsed.view(parsed.fields_.front().key);
  if (first != "cmd" && first != "mcmd") return std::nullopt;
  return parsed;
}

bool pmi_line::is_multi_line() const noexcept { return view(fields_.front().key) == "mcmd"; }

std::optional<std::string_view> pmi_line::find(std::string_view key) const noexcept {
  for (const auto& f : fields_)
    if (view(f.key) == key) return view(f.value);
  return std::nullopt;
}

std::optional<std::int64_t> pmi_line::number(std::string_view key) const noexcept {
  const auto text = find(key);
  return text ? decimal(*text) : std::nullopt;
}

bool pmi_line::succeeded() const noexcept { return !find("rc") || number("rc") == 0; }

std::optional<std::int64_t> decimal(std::string_view text) noexcept {
  std::int64_t value = 0;
  const auto end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end) return std::nullopt;
  return value;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ' ' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return out;
}

std::string unescaped(std::string_view value) {
  std::string out;
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (value[at] == '\\' && at + 1 < value.size()) ++at;
    out += value[at];
  }
  return out;
}

}  // namespace headway::launch
