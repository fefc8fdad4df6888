"""What the tests share whose processes live in two network namespaces, with links between them."""

import os
import sys
import unittest

from jobs import skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
from side_by_side import network  # noqa: E402  (a module of bench/)


def main(links, *programs):
    """Runs the tests of the script, or says what is missing for such links and these programs."""
    if os.geteuid() != 0:
        skip("network namespaces need root")
    try:
        with network.two_namespaces(links):
            pass
    except network.NetworkError as why:
        skip(f"no network namespaces here: {why}")
    for needed in programs:
        if not os.path.exists(needed):
            skip(f"{needed} is not built")
    unittest.main(verbosity=2)
