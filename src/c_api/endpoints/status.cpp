// What each status of headway/endpoint.h means, as text.
#include "headway/endpoint.h"

const char* headway_status_text(int status) {
  switch (status) {
    case HEADWAY_OK:
      return "well";
    case HEADWAY_AGAIN:
      return "it would have to wait";
    case HEADWAY_TIMED_OUT:
      return "the limit of time passed";
    case HEADWAY_NOT_FOUND:
      return "no end-point has this name";
    case HEADWAY_TAKEN:
      return "another end-point has this name";
    case HEADWAY_GONE:
      return "the end-point was closed, or its process ended";
    case HEADWAY_NO_MEMORY:
      return "no memory is left for it";
    case HEADWAY_MISUSE:
      return "the caller does not hold the buffer";
    case HEADWAY_BAD_ARGUMENT:
      return "an argument makes no sense";
    case HEADWAY_NOT_JOINED:
      return "this process is not in a job";
    default:
      return "unknown status";
  }
}
