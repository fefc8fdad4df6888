#pragma once

namespace headway::tool {

struct tune_options {
  int ranks = 0;        ///< to start, where this process is alone; 0: one a processor
  bool quick = false;   ///< fewer rounds
  bool forget = false;  ///< keep nothing
};

/// `headway tune`: measures which algorithm of each collective operation is the quickest for this
/// number of ranks on this node, and keeps the table. A process that is alone starts the ranks and
/// does not return. Returns the exit status.
int tune(const tune_options& wanted);

}  // namespace headway::tool
