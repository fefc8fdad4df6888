#include "tools/mpiexec/config_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <optional>

namespace headway::mpiexec {
namespace {

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The words of one line; nothing if a quote is not closed.
std::optional<std::vector<std::string>> words_of_line(const std::string& line) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && is_blank(c)) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (c == quote) quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"')) quote = c;
    else if (quote != '\'' && c == '\\' && i + 1 < line.size()) *word += line[++i];
    else *word += c;
  }
  if (quote != 0) return std::nullopt;
  if (word) words.push_back(std::move(*word));
  return words;
}

/// The next line together with those that continue it.
bool next_line(std::ifstream& file, std::string& line) {
  if (!std::getline(file, line)) return false;
  std::string more;
  while (line.ends_with('\\') && std::getline(file, more)) {
    line.back() = ' ';
    line += more;
  }
  return true;
}

}  // namespace

base::result<std::vector<std::string>> words_of_config_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return base::failed_errno(path, errno);
  std::vector<std::string> all;
  for (std::string line; next_line(file, line);) {
    if (const auto first = line.find_first_not_of(" \t"); first == line.npos || line[first] == '#')
      continue;
    const auto words = words_of_line(line);
    if (!words)
      return base::failed(base::fault_kind::bad_input,
                          fmt::format("{}: a quote is not closed: {}", path, line));
    if (!all.empty()) all.emplace_back(":");
    all.insert(all.end(), words->begin(), words->end());
  }
  if (all.empty())
    return base::failed(base::fault_kind::bad_input, fmt::format("{} has no command line", path));
  return all;
}

}  // namespace headway::mpiexec
