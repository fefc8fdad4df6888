/* The header alone, in C11 (and, through header.cpp, in C++11). */
#include "headway/progress.h"

extern const headway_progress_options header_options;
const headway_progress_options header_options = HEADWAY_PROGRESS_OPTIONS;
extern const headway_ltask_attributes header_attributes;
const headway_ltask_attributes header_attributes = HEADWAY_LTASK_ATTRIBUTES;
