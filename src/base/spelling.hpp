#pragma once

#include <span>
#include <string_view>

namespace headway::base {

/// The entry of `words` that a misspelt `word` most probably stands for; empty: none is near.
/// Near is: at most a third of the letters are wrong, missing, too many, or exchanged with the next
/// one, and at most three; and not all letters of either.
[[nodiscard]] std::string_view nearest_word(std::string_view word,
                                            std::span<const std::string_view> words);

}  // namespace headway::base
