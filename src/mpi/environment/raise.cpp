#include <string>

#include "c_api/shared_runtime/shared_runtime.hpp"
#include "mpi/abi/entry.hpp"
#include "mpi/environment/error_codes.hpp"
#include "mpi/environment/failure.hpp"

namespace headway::mpi {
namespace {

/// The error handler for an error of `where`. If `where` is null or freed, sets it to the object
/// whose handler is called instead.
errhandler& handler_for(const call_site& site, const object*& where) {
  if (where == nullptr || where->kind() == object_kind::none) {  // freed meanwhile
    where = site.scope == handler_scope::file ? static_cast<object*>(&file::null())
                                              : static_cast<object*>(the_library.self);
  }
  errhandler* found = nullptr;
  switch (where == nullptr ? object_kind::none : where->kind()) {
    case object_kind::comm:
      found = static_cast<const communicator*>(where)->handler.get();
      break;
    case object_kind::win:
      found = static_cast<const window*>(where)->handler.get();
      break;
    case object_kind::file:
      found = static_cast<const file*>(where)->handler.get();
      break;
    case object_kind::session:
      found = static_cast<const session*>(where)->handler.get();
      break;
    case object_kind::errhandler:  // an argument of a call that makes an object
      found = const_cast<errhandler*>(static_cast<const errhandler*>(where));
      break;
    default:
      break;
  }
  return found ? *found : errors_are_fatal();  // before MPI_Init: the initial handler
}

int hand_over(const call_site& site, const object* where, int code, std::string text) {
  text = fmt::format("{}: {}", site.name, text);
  // For MPI_Error_string, which appends the text of the last failure. Without the object, which the
  // program may free now.
  (void)fail_on(nullptr, code, text);
  if (site.scope == handler_scope::tool) return code;
  errhandler& handler = handler_for(site, where);
  switch (handler.what()) {
    case errhandler::action::end_job: {
      const int exit_code = error_class_of(code).value_or(MPI_ERR_OTHER);
      end_job(exit_code > 0 && exit_code < 126 ? exit_code : 1,
              fmt::format("{} ({})", text, error_name(code)));
    }
    case errhandler::action::return_code:
      break;
    case errhandler::action::call_user:
      handler.call_user(*where, code);
      break;
  }
  return code;
}

std::string argument_text(const call_site& site, int argument) {
  return fmt::format("argument {} ({})", argument, site.arguments[argument - 1]);
}

int class_for(object_kind kind) {
  switch (kind) {
    case object_kind::comm:
      return MPI_ERR_COMM;
    case object_kind::group:
      return MPI_ERR_GROUP;
    case object_kind::type:
      return MPI_ERR_TYPE;
    case object_kind::op:
      return MPI_ERR_OP;
    case object_kind::info:
      return MPI_ERR_INFO;
    case object_kind::errhandler:
      return MPI_ERR_ERRHANDLER;
    case object_kind::request:
    case object_kind::message:
      return MPI_ERR_REQUEST;
    case object_kind::session:
      return MPI_ERR_SESSION;
    case object_kind::win:
      return MPI_ERR_WIN;
    case object_kind::file:
      return MPI_ERR_FILE;
    case object_kind::none:
    case object_kind::placeholder:
      break;
  }
  return MPI_ERR_ARG;
}

}  // namespace

int raise(const call_site& site, const object* where, int code) {
  failure& why = last_failure();
  std::string text;
  if (why.code == code) {
    text = why.text;
    if (why.owner != nullptr) where = why.owner;
  } else {
    text = error_text(code).value_or(fmt::format("error code {}", code));
  }
  return hand_over(site, where, code, std::move(text));
}

int refuse_state(const call_site& site) {
  if (shared_runtime::in_forked_child())
    return hand_over(site, nullptr, MPI_ERR_OTHER, shared_runtime::forked_child_text);
  const bool over = the_library.world_is.load(std::memory_order_relaxed) == library::phase::over;
  return hand_over(site, nullptr, MPI_ERR_OTHER,
                   over ? "called after MPI_Finalize" : "called before MPI_Init");
}

int refuse_unsupported(const call_site& site, const object* where) {
  const int code =
      site.scope == handler_scope::tool ? MPI_T_ERR_NOT_SUPPORTED : MPI_ERR_UNSUPPORTED_OPERATION;
  return hand_over(site, where, code, "not implemented in Headway " HEADWAY_VERSION_TEXT);
}

int refuse_object(const call_site& site, const object* where, int argument, object_kind kind,
                  std::uintptr_t bits, std::uintptr_t null_bits) {
  const int code = kind == object_kind::info && bits == null_bits ? MPI_ERR_INFO : class_for(kind);
  std::string what;
  if (bits == null_bits) {
    what = fmt::format("is the null {}", kind_name(kind));
  } else if (bits == 0) {
    what = fmt::format("is 0, which is no {}", kind_name(kind));
  } else {
    what = fmt::format("is {:#x}, which is no {}, or a freed one", bits, kind_name(kind));
  }
  return hand_over(site, where, code, argument_text(site, argument) + " " + what);
}

int refuse_negative(const call_site& site, const object* where, int error, int argument,
                    MPI_Count value) {
  return hand_over(
      site, where, error,
      fmt::format("{} is {}, but must not be negative", argument_text(site, argument), value));
}

int refuse_rank(const call_site& site, const communicator& comm, int error, int argument,
                int value) {
  const std::string name = comm.name.empty() ? "the communicator" : "communicator " + comm.name;
  return hand_over(site, &comm, error,
                   fmt::format("{} is {}, but {} has ranks 0 to {}", argument_text(site, argument),
                               value, name, comm.peer_count() - 1));
}

int refuse_inter(const call_site& site, const communicator& comm, int argument) {
  return hand_over(site, &comm, MPI_ERR_COMM,
                   argument_text(site, argument) + " is an inter-communicator");
}

int refuse_tag(const call_site& site, const object* where, int argument, int value) {
  return hand_over(site, where, MPI_ERR_TAG,
                   fmt::format("{} is {}, but tags are 0 to {}", argument_text(site, argument),
                               value, messages::program_tag_max));
}

int refuse_null(const call_site& site, const object* where, int argument) {
  const std::string_view name = site.arguments[argument - 1];
  const bool info_call = std::string_view(site.name).starts_with("MPI_Info_");
  const int code = !info_call        ? MPI_ERR_ARG
                   : name == "key"   ? MPI_ERR_INFO_KEY
                   : name == "value" ? MPI_ERR_INFO_VALUE
                                     : MPI_ERR_ARG;
  return hand_over(site, where, code, argument_text(site, argument) + " is a null pointer");
}

int refuse_uncommitted(const call_site& site, const object* where, int argument) {
  return hand_over(site, where, MPI_ERR_TYPE,
                   argument_text(site, argument) + " is a datatype that was not committed");
}

int refuse_buffer(const call_site& site, const object* where, int argument, MPI_Count count) {
  return hand_over(site, where, MPI_ERR_BUFFER,
                   fmt::format("{} is a null pointer, but the count is {}",
                               argument_text(site, argument), count));
}

int refuse_counts(const call_site& site, const object* where, int argument, integers values,
                  MPI_Count count) {
  for (MPI_Count i = 0; i < count; ++i) {
    if (values[i] >= 0) [[likely]]
      continue;
    return hand_over(site, where, MPI_ERR_COUNT,
                     fmt::format("{} has {} at index {}, but must not be negative",
                                 argument_text(site, argument), values[i], i));
  }
  return MPI_SUCCESS;
}

int refuse_types(const call_site& site, const object* where, int argument,
                 const MPI_Datatype* values, MPI_Count count, bool must_be_committed) {
  for (MPI_Count i = 0; i < count; ++i) {
    const datatype* type = find<datatype>(values[i]);
    if (type == nullptr) return refuse_handle(site, where, argument, values[i]);
    if (must_be_committed && !type->committed) return refuse_uncommitted(site, where, argument);
  }
  return MPI_SUCCESS;
}

int refuse_requests(const call_site& site, const object* where, int argument,
                    const MPI_Request* values, MPI_Count count) {
  for (MPI_Count i = 0; i < count; ++i) {
    if (values[i] != MPI_REQUEST_NULL && find<request>(values[i]) == nullptr) {
      return refuse_handle(site, where, argument, values[i]);
    }
  }
  return MPI_SUCCESS;
}

}  // namespace headway::mpi
