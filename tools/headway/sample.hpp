#pragma once

#include <string>
#include <vector>

namespace headway::tool {

struct sample_options {
  std::vector<std::string> rails;  ///< only those of these names or patterns; none: all
  std::string plot;                ///< an SVG file for the picture; empty: no picture
  bool json = false;
  bool quick = false;   ///< some seconds instead of half a minute, up to 4 MB
  bool forget = false;  ///< keep no profile
};

/// `headway sample`: measures the rails between two ranks and keeps their profiles. A process that
/// is alone starts two ranks on this machine and does not return. Returns the exit status.
int sample(const sample_options& wanted);

}  // namespace headway::tool
