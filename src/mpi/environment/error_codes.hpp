#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headway::mpi {

// Error classes and codes: the standard's, and those that the program adds at run time. A code of
// the standard is its own class. Any thread; a lock, on error paths only.

/// "MPI_ERR_RANK"; "an error of the program's" for a code that the program added.
[[nodiscard]] std::string error_name(int code);
/// The text of MPI_Error_string, without detail. Nothing: no such code.
[[nodiscard]] std::optional<std::string> error_text(int code);
/// The class of a class or code. Nothing: no such code.
[[nodiscard]] std::optional<int> error_class_of(int code);

[[nodiscard]] int add_error_class();
/// Nothing: no such class.
[[nodiscard]] std::optional<int> add_error_code(int error_class);
/// False: the program has not added it, or it still has a text or (a class) codes.
[[nodiscard]] bool set_error_text(int code, std::string_view text);
[[nodiscard]] bool remove_error_class(int error_class);
[[nodiscard]] bool remove_error_code(int code);
[[nodiscard]] bool remove_error_text(int code);
/// The value of the attribute MPI_LASTUSEDCODE: the address of a number that grows with additions.
[[nodiscard]] int* last_used_code() noexcept;

}  // namespace headway::mpi
