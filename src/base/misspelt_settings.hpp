#pragma once

namespace headway::base {

/// Warns, once for the whole job, of each variable of the environment that is no tunable, but whose
/// name is nearly that of one. Other HEADWAY_ variables may be a program's own.
/// Threads:  as `getenv`: none may change the environment meanwhile.
void report_misspelt_settings();

}  // namespace headway::base
