#include "mpi/collectives/steps_builder.hpp"

#include "mpi/collectives/reduction_operator.hpp"
#include "mpi/environment/failure.hpp"

namespace headway::mpi {

int refuse_in_place(const char* argument) {
  return fail(MPI_ERR_BUFFER, "{} is MPI_IN_PLACE, which has no meaning there", argument);
}

bool are_same(const void* send, const void* receive, MPI_Count bytes) noexcept {
  return send == receive && bytes != 0 && send != MPI_BOTTOM;
}

int fail_same(const communicator& comm) {
  return fail_on(&comm, MPI_ERR_BUFFER,
                 "sendbuf and recvbuf are the same memory; MPI_IN_PLACE says so");
}

int operands_of(const void* send, void* receive, MPI_Count count, const datatype& type,
                const operation& op, collectives::reduction& made) {
  if (in_place(receive)) return refuse_in_place("recvbuf");
  made = {.send = send,
          .receive = receive,
          .count = count,
          .type = &type.layout(),
          .in_place = in_place(send)};
  return reducer_for(op, type, made.op);
}

const datatypes::layout* steps_builder::layout(datatype& type) {
  if (keep_ && !type.is_predefined()) steps.keep(type.layout());
  return &type.layout();
}

collectives::block steps_builder::one(const void* data, MPI_Count count, datatype& type) {
  return {const_cast<void*>(data), count, layout(type)};
}

collectives::blocks steps_builder::row(const void* data, MPI_Count count, datatype& type) {
  auto made = row_of(data, count, type);
  made.type = layout(type);
  return made;
}

void steps_builder::fill(varying& v, const void* data, integers counts, integers places,
                         datatype& type, int count) {
  v.counts = counts.copy(count);
  v.places = places.copy(count);
  v.all = {.data = const_cast<void*>(data),
           .type = layout(type),
           .counts = v.counts.data(),
           .places = v.places.data()};
}

void steps_builder::fill(varying& v, const void* data, integers counts, integers places,
                         const MPI_Datatype* types, int count) {
  v.counts = counts.copy(count);
  v.places = places.copy(count);
  for (int i = 0; i < count; ++i) v.types.push_back(layout(*find<datatype>(types[i])));
  v.all = {.data = const_cast<void*>(data),
           .counts = v.counts.data(),
           .places = v.places.data(),
           .types = v.types.data()};
}

int steps_builder::operands(const void* send, void* receive, MPI_Count count, datatype& type,
                            operation& op, collectives::reduction& made) {
  if (const int code = operands_of(send, receive, count, type, op, made)) return code;
  if (are_same(send, receive, made.bytes())) steps.refuse();
  made.type = layout(type);
  if (keep_ && !op.predefined && !type.is_predefined()) {
    type.add_user();
    steps.when_cleared([](void* held) { static_cast<datatype*>(held)->drop_user(); }, &type);
  }
  return MPI_SUCCESS;
}

}  // namespace headway::mpi
