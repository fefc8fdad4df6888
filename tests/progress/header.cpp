// As C++11: the oldest that a program of today is compiled as.
#include "header.c"  // NOLINT
