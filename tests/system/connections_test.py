"""How many connections a peer gets on an interface: as many as `headway sample` found to pay.

The link is one that gives each connection no more than its part, as a wide network may; or one
whose rate all connections share. What is compared are numbers of connections and what each has
carried, never a time. Needs root for network namespaces; says so where it is not.
"""

import json
import os
import pathlib
import re
import tempfile
import unittest

import cabled
from cabled import network
from jobs import BUILD, MPIEXEC, WHOLE, run

HEADWAY = BUILD + "/bin/headway"
LARGE_TRANSFER = BUILD + "/bin/large_transfer"
LARGE_BYTES = 4 << 20
FLOWS = "60mbit/flow"
LINK = "200mbit"
HOW_LONG = [] if WHOLE else ["--quick"]  # a measurement
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def rows(text, kind):
    """What HEADWAY_STATS says of rails: {name: {heading: text}} for each rank, in their order."""
    tables, heads = [], None
    for line in text.splitlines():
        cells = [line[:24].strip()]
        cells += [line[at : at + 14].strip() for at in range(24, len(line), 14)]
        if cells[0] == kind:
            heads = cells[1:]
            tables.append({})
        elif not line:
            heads = None
        elif heads:
            tables[-1][cells[0]] = dict(zip(heads, cells[1:]))
    return tables


def bytes_of(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


class Connections(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def job(self, place, *words, caches=("cache", "cache"), **more):
        """`caches`: of each rank, as hosts of their own would have."""
        command = [MPIEXEC, "--timeout", "100"]
        for number, (prefix, cache) in enumerate(zip(place.prefixes, caches)):
            own = ["env", f"HEADWAY_CACHE={self.folder / cache}"]
            command += [":"] * number + ["-n", "1", *prefix, *own, *words]
        all_ = {name: value for name, value in os.environ.items() if name[:8] != "HEADWAY_"}
        all_ |= {"HEADWAY_RAILS": "tcp:hw*", **more}
        done = run(command, limit=110, env=all_)
        self.assertEqual(done.code, 0, done.out + done.err)
        return done

    def sample(self, place, *words, **how):
        """Of the only rail, what `headway sample` says of it."""
        done = self.job(place, HEADWAY, "sample", "--json", *words, **how)
        rails = json.loads(done.out)
        self.assertEqual([rail["rail"] for rail in rails["rails"]], ["tcp:hw0"])
        self.assertNotIn("stays at one connection", done.err)
        return rails["rails"][0]

    def connections_used(self, place, **how):
        """How many rails carried the message, the same at both ends; each of them its part."""
        done = self.job(place, LARGE_TRANSFER, HEADWAY_STATS="1", **how)
        tables = rows(done.err, "bundle")
        if not tables:
            return 1
        names = [list(table) for table in tables]
        self.assertEqual(names[0], names[1])
        for table in rows(done.err, "rail"):
            for name in names[0]:
                self.assertGreater(bytes_of(table[name]["bytes in"]), LARGE_BYTES / 32, done.err)
        count = len(names[0])
        self.assertEqual(names[0], ["tcp:hw0", *(f"tcp:hw0#{n}" for n in range(2, 1 + count))])
        return count

    def test_where_each_connection_has_its_part_several_pay_and_are_used(self):
        with network.two_namespaces(FLOWS) as place:
            self.assertEqual(self.connections_used(place), 1)  # nothing is measured yet
            rail = self.sample(place, *HOW_LONG)
            many = rail["connections"]
            self.assertIn(many, (2, 4), rail)  # four, unless the machine is busy
            self.assertIn(f"\nconnections {many}\n", pathlib.Path(rail["file"]).read_text())
            self.assertEqual(self.connections_used(place), many)
            self.assertEqual(self.connections_used(place, HEADWAY_CONNECTIONS="1"), 1)
            self.assertEqual(self.connections_used(place, HEADWAY_CONNECTIONS="3"), 3)
            self.assertEqual(self.connections_used(place, HEADWAY_RAILS_PER_PEER="1"), 1)
            self.assertEqual(self.connections_used(place, caches=("cache", "other")), 1)
            self.assertEqual(self.connections_used(place, caches=("other", "cache")), 1)

    def test_where_all_share_the_link_one_is_kept(self):
        with network.two_namespaces(LINK) as place:
            rail = self.sample(place, *HOW_LONG)
            self.assertEqual(rail["connections"], 1, rail)
            self.assertEqual([s["connections"] for s in rail["streams_in"]], [1, 2, 4])
            self.assertEqual(self.connections_used(place), 1)

    def test_no_more_are_tried_than_are_wished(self):
        with network.two_namespaces(FLOWS) as place:
            rail = self.sample(place, "--quick", HEADWAY_CONNECTIONS="2")
            self.assertEqual([s["connections"] for s in rail["streams_in"]], [1, 2])
            many = rail["connections"]
            self.assertEqual(self.connections_used(place), many)
            # A measurement of one connection alone chooses nothing: the earlier choice stays.
            rail = self.sample(place, "--quick", HEADWAY_CONNECTIONS="1")
            self.assertEqual(rail["connections"], many)

    def test_a_damaged_profile_leaves_one_connection_and_is_said(self):
        with network.two_namespaces(FLOWS) as place:
            self.sample(place, "--quick", caches=("a", "b"))
            (file,) = (path for path in self.folder.glob("b/profiles/*") if path.is_file())
            file.write_text(re.sub(r"\nconnections \d\n", "\nconnections 8\n", file.read_text()))
            done = self.job(place, LARGE_TRANSFER, caches=("a", "b"), HEADWAY_STATS="1")
            self.assertIn("is not used: the sum over it is wrong", done.err)
            self.assertEqual(rows(done.err, "bundle"), [])


if __name__ == "__main__":
    cabled.main(FLOWS, HEADWAY, LARGE_TRANSFER)
