#include "mpi/files/file_calls.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "base/hash.hpp"
#include "mpi/communicators/creation.hpp"
#include "mpi/datatypes/datatype_calls.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/files/data_access.hpp"
#include "mpi/files/opening.hpp"
#include "mpi/files/shared_pointer.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi::calls {
namespace {

/// The arguments of one process in a collective call.
struct checked_arguments {
  std::int64_t value = 0;           // must be the same on all processes
  std::int64_t code = MPI_SUCCESS;  // of their check
  // Of a filetype: it has holes; one ends where the next one begins, or before.
  std::int32_t has_holes = 0, is_increasing = 1;
};

/// Whether all processes agree on the arguments of a collective call, which this one refuses with
/// `mine.code`. An MPI error code.
[[nodiscard]] int agree(file& fh, const checked_arguments& mine, const char* what,
                        std::vector<checked_arguments>& all) {
  // Keeps the text of a refusal, which the exchange might replace.
  const failure why = last_failure();
  if (!gather_values(fh.comm(), mine, all)) return fail_process_lost(fh);
  if (mine.code != MPI_SUCCESS) return fail_on(&fh, why.code, why.text);
  for (const auto& each : all)
    if (each.code != MPI_SUCCESS)
      return fail_on(&fh, static_cast<int>(each.code),
                     "the arguments of another process are wrong");
  if (std::ranges::all_of(all,
                          [&](const checked_arguments& each) { return each.value == mine.value; }))
    return MPI_SUCCESS;
  return fail(MPI_ERR_NOT_SAME, "processes have different values of {}", what);
}

[[nodiscard]] int agree(file& fh, const checked_arguments& mine, const char* what) {
  std::vector<checked_arguments> all;
  return agree(fh, mine, what, all);
}

/// Has the first process change the size of the file.
[[nodiscard]] int change_size(file& fh, MPI_Offset size,
                              int (files::open_file::*change)(std::int64_t) const) {
  int code = refuse_sequential(fh);
  if (code == MPI_SUCCESS && size < 0) code = fail(MPI_ERR_ARG, "the size is {}", size);
  if (code == MPI_SUCCESS && fh.has_mode(MPI_MODE_RDONLY))
    code = fail(MPI_ERR_READ_ONLY, "the file was opened for reading alone");
  if ((code = agree(fh, {size, code}, "size")) != MPI_SUCCESS) return code;
  int error = fh.comm().rank() == 0 ? std::invoke(change, *fh.descriptor(), size) : 0;
  if (!first_error(fh.comm(), error)) return fail_process_lost(fh);
  return error == 0 ? MPI_SUCCESS : fail_errno(fh, "set the size of " + fh.path(), error);
}

[[nodiscard]] int check_view(const file& fh, MPI_Offset disp, datatype& etype, datatype& filetype,
                             const char* datarep, std::optional<representation>& form) {
  const bool current = disp == MPI_DISPLACEMENT_CURRENT;
  if (current != fh.has_mode(MPI_MODE_SEQUENTIAL))
    return fail(MPI_ERR_ARG,
                "the displacement must be MPI_DISPLACEMENT_CURRENT if the file was opened with "
                "MPI_MODE_SEQUENTIAL, and else not");
  if (!current && disp < 0) return fail(MPI_ERR_ARG, "the displacement is {}", disp);
  const auto& unit = etype.layout();
  if (unit.size() == 0) return fail(MPI_ERR_ARG, "the etype has no data");
  if (filetype.layout().size() % unit.size() != 0)
    return fail(MPI_ERR_ARG, "the filetype has {} bytes, which are no multiple of the etype's {}",
                filetype.layout().size(), unit.size());
  if (!files::view::is_usable(filetype.layout()))
    return fail(MPI_ERR_ARG, "the displacements of the filetype are negative, or decrease");
  form = representation::named(datarep);
  if (!form)
    return fail(MPI_ERR_UNSUPPORTED_DATAREP, "there is no data representation '{}'", datarep);
  if (!form->keeps_lengths_of(etype) || !form->keeps_lengths_of(filetype))
    return fail(MPI_ERR_UNSUPPORTED_DATAREP,
                "elements of the types have other lengths in the representation '{}'", datarep);
  return MPI_SUCCESS;
}

/// A handle of the program's for a type of a view.
[[nodiscard]] int shown(datatype& type, datatype*& handle) {
  handle = &type;
  return type.is_predefined() ? MPI_SUCCESS : type_dup(type, handle);
}

}  // namespace

int file_open(communicator& comm, const char* filename, int amode, info* hints, file*& fh) {
  return open_file(comm, filename, amode, hints, fh);
}

int file_close(file*& fh) {
  if (fh->split != nullptr)
    return fail_on(fh, MPI_ERR_OTHER, "a split collective access has not ended");
  const int code = close_file(*fh);
  fh = nullptr;
  return code;
}

int file_delete(const char* filename, info*) {
  const auto path = path_of(filename);
  if (::unlink(path.c_str()) == 0) return MPI_SUCCESS;
  return fail_errno(file::null(), "delete " + path, errno);
}

int file_set_size(file& fh, MPI_Offset size) {
  return change_size(fh, size, &files::open_file::set_size);
}

int file_preallocate(file& fh, MPI_Offset size) {
  return change_size(fh, size, &files::open_file::allocate);
}

int file_get_size(file& fh, MPI_Offset& size) {
  const auto found = fh.descriptor()->size();
  if (!found) return fail_errno(fh, "the size of " + fh.path(), found.error());
  size = *found;
  return MPI_SUCCESS;
}

int file_get_group(file& fh, group*& made) {
  made = make_group(fh.comm().shared_members(), fh.comm().origin);
  return MPI_SUCCESS;
}

int file_get_amode(file& fh, int& amode) {
  amode = fh.amode();
  return MPI_SUCCESS;
}

int file_set_info(file& fh, info* hints) {
  if (hints != nullptr) fh.hints.set(hints->entries());
  return MPI_SUCCESS;
}

int file_get_info(file& fh, info*& hints) {
  auto all = fh.hints.all();
  if (!fh.hints.get("filename")) all.emplace_back("filename", fh.path());
  hints = pool<info>::all().make(std::move(all));
  return MPI_SUCCESS;
}

int file_set_view(file& fh, MPI_Offset disp, datatype& etype, datatype& filetype,
                  const char* datarep, info* hints) {
  std::optional<representation> form;
  const int refusal = check_view(fh, disp, etype, filetype, datarep, form);
  const auto same = base::hash_of(datarep) ^ static_cast<std::uint64_t>(etype.layout().size());
  const auto& tile = filetype.layout();
  const checked_arguments mine{.value = static_cast<std::int64_t>(same),
                               .code = refusal,
                               .has_holes = !tile.is_contiguous(),
                               .is_increasing = tile.true_extent() <= tile.extent()};
  std::vector<checked_arguments> all;
  if (const int code = agree(fh, mine, "etype or representation", all)) return code;
  if (disp == MPI_DISPLACEMENT_CURRENT) {
    std::int64_t position = 0;
    if (const int code = fh.pointer().advance(0, position)) return code;
    disp = fh.view().data.offset_of(position);
  }
  file_view next{.data = {.displacement = disp,
                          .etype_bytes = etype.layout().size(),
                          .filetype = filetype.shared_layout()},
                 .form = *std::move(form)};
  if (const int code = shown(etype, next.etype)) return code;
  if (const int code = shown(filetype, next.filetype)) return code;
  fh.set_view(next);
  fh.exchanges_pieces = all.size() > 1 && std::ranges::any_of(all, &checked_arguments::has_holes) &&
                        std::ranges::all_of(all, &checked_arguments::is_increasing);
  if (const int code = file_set_info(fh, hints)) return code;
  return fh.pointer().set(0);
}

int file_get_view(file& fh, MPI_Offset& disp, datatype*& etype, datatype*& filetype,
                  char* datarep) {
  const auto& now = fh.view();
  disp = now.data.displacement;
  if (const int code = shown(*now.etype, etype)) return code;
  if (const int code = shown(*now.filetype, filetype)) return code;
  std::strcpy(datarep, now.form.name().c_str());
  return MPI_SUCCESS;
}

int file_get_type_extent(file& fh, datatype& type, MPI_Aint& extent) {
  if (!fh.view().form.keeps_lengths_of(type))
    return fail(MPI_ERR_UNSUPPORTED_DATAREP,
                "elements of the type have other lengths in the representation '{}'",
                fh.view().form.name());
  extent = type.layout().extent();
  return MPI_SUCCESS;
}

int register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion_fn,
                     MPI_Datarep_conversion_function* write_conversion_fn,
                     MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  return representation::add(datarep, {.read = read_conversion_fn,
                                       .write = write_conversion_fn,
                                       .extent = dtype_file_extent_fn,
                                       .extra_state = extra_state});
}

int register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c* read_conversion_fn,
                       MPI_Datarep_conversion_function_c* write_conversion_fn,
                       MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  return representation::add(datarep, {.read_large = read_conversion_fn,
                                       .write_large = write_conversion_fn,
                                       .extent = dtype_file_extent_fn,
                                       .extra_state = extra_state});
}

int file_set_atomicity(file& fh, int flag) {
  const bool is = flag != 0;
  if (const int code = agree(fh, {.value = is}, "flag")) return code;
  fh.atomic = is;
  return MPI_SUCCESS;
}

int file_get_atomicity(file& fh, int& flag) {
  flag = fh.atomic;
  return MPI_SUCCESS;
}

int file_sync(file& fh) {
  int error = fh.has_mode(MPI_MODE_RDONLY) ? 0 : fh.descriptor()->sync();
  if (!first_error(fh.comm(), error)) return fail_process_lost(fh);
  return error == 0 ? MPI_SUCCESS : fail_errno(fh, "synchronise " + fh.path(), error);
}

}  // namespace headway::mpi::calls
