// MPI_Comm_spawn and MPI_Comm_spawn_multiple from Fortran: their arrays of strings.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "mpi/fortran/conversions.hpp"
#include "mpi/fortran/special.hpp"

namespace headway::mpi::fortran::special {
namespace {

/// Strings as C passes them: pointers, and a null pointer behind them.
class string_list {
 public:
  void add(const char* at, std::size_t length) {
    texts_.push_back(std::make_unique<text_in>(at, length));
  }
  [[nodiscard]] char** pointers() {
    pointers_.clear();
    for (const auto& text : texts_) pointers_.push_back(const_cast<char*>(text->get()));
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

 private:
  std::vector<std::unique_ptr<text_in>> texts_;
  std::vector<char*> pointers_;
};

/// Arguments of a program: strings `step` apart, up to a blank one.
string_list arguments(const char* first, std::size_t length, std::size_t step) {
  string_list made;
  for (const char* at = first; at[0] != '\0'; at += step * length) {
    if (without_trailing_blanks(std::string_view(at, length)).empty()) break;
    made.add(at, length);
  }
  return made;
}

int* codes_or_ignore(int* codes) {
  return codes == &mpipriv2_.errcodes_ignore ? MPI_ERRCODES_IGNORE : codes;
}

}  // namespace

int comm_spawn(const char* command, const char* argv, const int* maxprocs, const int* info,
               const int* root, const int* comm, int* intercomm, int* codes,
               std::size_t command_length, std::size_t argv_length) {
  const text_in command_(command, command_length);
  written<MPI_Comm> intercomm_(intercomm);
  const bool none = argv == &mpiprivc_.argv_null || !is_root(*root, *comm);
  auto list = none ? string_list() : arguments(argv, argv_length, 1);
  return PMPI_Comm_spawn(command_.get(), none ? MPI_ARGV_NULL : list.pointers(), *maxprocs,
                         handle<MPI_Info>(*info), *root, handle<MPI_Comm>(*comm),
                         intercomm_.address(), codes_or_ignore(codes));
}

int comm_spawn_multiple(const int* count, const char* commands, const char* argv,
                        const int* maxprocs, const int* infos, const int* root, const int* comm,
                        int* intercomm, int* codes, std::size_t command_length,
                        std::size_t argv_length) {
  const int listed = is_root(*root, *comm) ? std::max(*count, 0) : 0;
  const auto programs = static_cast<std::size_t>(listed);
  const bool none = argv == &mpiprivc_.argvs_null;
  string_list commands_;
  std::vector<string_list> lists(programs);
  std::vector<char**> argvs;
  for (std::size_t i = 0; i < programs; ++i) {
    commands_.add(commands + i * command_length, command_length);
    if (!none) lists[i] = arguments(argv + i * argv_length, argv_length, programs);
    argvs.push_back(lists[i].pointers());
  }
  handle_array<MPI_Info> infos_(infos, listed);
  written<MPI_Comm> intercomm_(intercomm);
  return PMPI_Comm_spawn_multiple(
      *count, commands_.pointers(), none ? MPI_ARGVS_NULL : argvs.data(), maxprocs, infos_.data(),
      *root, handle<MPI_Comm>(*comm), intercomm_.address(), codes_or_ignore(codes));
}

}  // namespace headway::mpi::fortran::special
