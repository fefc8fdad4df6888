#include "mpi/files/access_calls.hpp"

#include "mpi/files/data_access.hpp"
#include "mpi/files/shared_pointer.hpp"

namespace headway::mpi::calls {

using enum file_pointer;
using enum files::direction;

int file_seek(file& fh, MPI_Offset offset, int whence) {
  if (const int code = refuse_sequential(fh)) return code;
  std::int64_t position = 0;
  if (const int code = sought(fh, offset, whence, fh.position(), position)) return code;
  fh.move_to(position);
  return MPI_SUCCESS;
}

int file_seek_shared(file& fh, MPI_Offset offset, int whence) {
  std::int64_t now = 0, position = 0;
  if (const int code = fh.pointer().advance(0, now)) return code;
  if (const int code = sought(fh, offset, whence, now, position)) return code;
  return fh.pointer().set(position);
}

int file_get_position(file& fh, MPI_Offset& offset) {
  if (const int code = refuse_sequential(fh)) return code;
  offset = fh.position() / fh.view().data.etype_bytes;
  return MPI_SUCCESS;
}

int file_get_position_shared(file& fh, MPI_Offset& offset) {
  std::int64_t now = 0;
  if (const int code = fh.pointer().advance(0, now)) return code;
  offset = now / fh.view().data.etype_bytes;
  return MPI_SUCCESS;
}

int file_get_byte_offset(file& fh, MPI_Offset offset, MPI_Offset& disp) {
  if (const int code = refuse_sequential(fh)) return code;
  std::int64_t position = 0;
  if (const int code = explicit_position(fh, offset, position)) return code;
  disp = fh.view().data.offset_of(position);
  return MPI_SUCCESS;
}

int file_read_at(file& fh, MPI_Offset offset, void* buf, MPI_Count count, datatype& type,
                 MPI_Status* status) {
  return access_now(fh, reading, {explicit_offset, offset}, {buf, count, type}, status);
}

int file_iread_at(file& fh, MPI_Offset offset, void* buf, MPI_Count count, datatype& type,
                  request*& r) {
  return begin_access(fh, reading, {explicit_offset, offset}, {buf, count, type}, r);
}

int file_read_at_all(file& fh, MPI_Offset offset, void* buf, MPI_Count count, datatype& type,
                     MPI_Status* status) {
  return access_now(fh, reading, {explicit_offset, offset, true}, {buf, count, type}, status);
}

int file_iread_at_all(file& fh, MPI_Offset offset, void* buf, MPI_Count count, datatype& type,
                      request*& r) {
  return begin_access(fh, reading, {explicit_offset, offset}, {buf, count, type}, r);
}

int file_read_at_all_begin(file& fh, MPI_Offset offset, void* buf, MPI_Count count,
                           datatype& type) {
  return begin_split(fh, reading, {explicit_offset, offset}, {buf, count, type},
                     "MPI_File_read_at_all_end");
}

int file_read_at_all_end(file& fh, void* buf, MPI_Status* status) {
  static_cast<void>(buf);
  return end_split(fh, "MPI_File_read_at_all_end", status);
}

int file_read(file& fh, void* buf, MPI_Count count, datatype& type, MPI_Status* status) {
  return access_now(fh, reading, {individual, 0}, {buf, count, type}, status);
}

int file_iread(file& fh, void* buf, MPI_Count count, datatype& type, request*& r) {
  return begin_access(fh, reading, {individual, 0}, {buf, count, type}, r);
}

int file_read_all(file& fh, void* buf, MPI_Count count, datatype& type, MPI_Status* status) {
  return access_now(fh, reading, {individual, 0, true}, {buf, count, type}, status);
}

int file_iread_all(file& fh, void* buf, MPI_Count count, datatype& type, request*& r) {
  return begin_access(fh, reading, {individual, 0}, {buf, count, type}, r);
}

int file_read_all_begin(file& fh, void* buf, MPI_Count count, datatype& type) {
  return begin_split(fh, reading, {individual, 0}, {buf, count, type}, "MPI_File_read_all_end");
}

int file_read_all_end(file& fh, void* buf, MPI_Status* status) {
  static_cast<void>(buf);
  return end_split(fh, "MPI_File_read_all_end", status);
}

int file_read_shared(file& fh, void* buf, MPI_Count count, datatype& type, MPI_Status* status) {
  return access_now(fh, reading, {shared, 0}, {buf, count, type}, status);
}

int file_iread_shared(file& fh, void* buf, MPI_Count count, datatype& type, request*& r) {
  return begin_access(fh, reading, {shared, 0}, {buf, count, type}, r);
}

int file_read_ordered(file& fh, void* buf, MPI_Count count, datatype& type, MPI_Status* status) {
  return access_now(fh, reading, {ordered, 0}, {buf, count, type}, status);
}

int file_read_ordered_begin(file& fh, void* buf, MPI_Count count, datatype& type) {
  return begin_split(fh, reading, {ordered, 0}, {buf, count, type}, "MPI_File_read_ordered_end");
}

int file_read_ordered_end(file& fh, void* buf, MPI_Status* status) {
  static_cast<void>(buf);
  return end_split(fh, "MPI_File_read_ordered_end", status);
}

int file_write_at(file& fh, MPI_Offset offset, const void* buf, MPI_Count count, datatype& type,
                  MPI_Status* status) {
  return access_now(fh, writing, {explicit_offset, offset}, {const_cast<void*>(buf), count, type},
                    status);
}

int file_iwrite_at(file& fh, MPI_Offset offset, const void* buf, MPI_Count count, datatype& type,
                   request*& r) {
  return begin_access(fh, writing, {explicit_offset, offset}, {const_cast<void*>(buf), count, type},
                      r);
}

int file_write_at_all(file& fh, MPI_Offset offset, const void* buf, MPI_Count count, datatype& type,
                      MPI_Status* status) {
  return access_now(fh, writing, {explicit_offset, offset, true},
                    {const_cast<void*>(buf), count, type}, status);
}

int file_iwrite_at_all(file& fh, MPI_Offset offset, const void* buf, MPI_Count count,
                       datatype& type, request*& r) {
  return begin_access(fh, writing, {explicit_offset, offset}, {const_cast<void*>(buf), count, type},
                      r);
}

int file_write_at_all_begin(file& fh, MPI_Offset offset, const void* buf, MPI_Count count,
                            datatype& type) {
  return begin_split(fh, writing, {explicit_offset, offset}, {const_cast<void*>(buf), count, type},
                     "MPI_File_write_at_all_end");
}

int file_write_at_all_end(file& fh, const void* buf, MPI_Status* status) {
  static_cast<void>(buf);
  return end_split(fh, "MPI_File_write_at_all_end", status);
}

int file_write(file& fh, const void* buf, MPI_Count count, datatype& type, MPI_Status* status) {
  return access_now(fh, writing, {individual, 0}, {const_cast<void*>(buf), count, type}, status);
}

int file_iwrite(file& fh, const void* buf, MPI_Count count, datatype& type, request*& r) {
  return begin_access(fh, writing, {individual, 0}, {const_cast<void*>(buf), count, type}, r);
}

int file_write_all(file& fh, const void* buf, MPI_Count count, datatype& type, MPI_Status* status) {
  return access_now(fh, writing, {individual, 0, true}, {const_cast<void*>(buf), count, type},
                    status);
}

int file_iwrite_all(file& fh, const void* buf, MPI_Count count, datatype& type, request*& r) {
  return begin_access(fh, writing, {individual, 0}, {const_cast<void*>(buf), count, type}, r);
}

int file_write_all_begin(file& fh, const void* buf, MPI_Count count, datatype& type) {
  return begin_split(fh, writing, {individual, 0}, {const_cast<void*>(buf), count, type},
                     "MPI_File_write_all_end");
}

int file_write_all_end(file& fh, const void* buf, MPI_Status* status) {
  static_cast<void>(buf);
  return end_split(fh, "MPI_File_write_all_end", status);
}

int file_write_shared(file& fh, const void* buf, MPI_Count count, datatype& type,
                      MPI_Status* status) {
  return access_now(fh, writing, {shared, 0}, {const_cast<void*>(buf), count, type}, status);
}

int file_iwrite_shared(file& fh, const void* buf, MPI_Count count, datatype& type, request*& r) {
  return begin_access(fh, writing, {shared, 0}, {const_cast<void*>(buf), count, type}, r);
}

int file_write_ordered(file& fh, const void* buf, MPI_Count count, datatype& type,
                       MPI_Status* status) {
  return access_now(fh, writing, {ordered, 0}, {const_cast<void*>(buf), count, type}, status);
}

int file_write_ordered_begin(file& fh, const void* buf, MPI_Count count, datatype& type) {
  return begin_split(fh, writing, {ordered, 0}, {const_cast<void*>(buf), count, type},
                     "MPI_File_write_ordered_end");
}

int file_write_ordered_end(file& fh, const void* buf, MPI_Status* status) {
  static_cast<void>(buf);
  return end_split(fh, "MPI_File_write_ordered_end", status);
}

}  // namespace headway::mpi::calls
