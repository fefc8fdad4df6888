"""What tools/tidy.py knows of words: those that were replaced, the glossary, and cited files.

Functions here take a path from the repository's root and a text, and yield (line, message).
docs/glossary.md says what the words that are used mean.
"""

import functools
import pathlib
import re
from dataclasses import dataclass

# The folders and files that are checked. tools/tidy.py leaves out the files that describe the
# rules.
CHECKED = (
    "src/", "include/", "tests/", "tools/", "cmake/", "docs/", "examples/", "python/", "scripts/",
    "api/", "bench/", "debian/", "packaging/", ".ci/",
)  # fmt: skip
CHECKED_FILES = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CMakeLists.txt"}

PROGRESS = ("src/progress/", "tests/unit/progress/", "tests/model/", "tests/stress/", "docs/")
LAUNCH = ("src/launch/", "tests/unit/launch/", "tests/fuzz/", "tools/mpiexec/")
BELOW_RANKS = (  # modules that know processes, and no ranks
    "src/packets/", "src/rails/", "src/sampling/", "src/endpoints/", "tests/drivers/",
)  # fmt: skip
MESSAGES = ("src/messages/", "src/mpi/", "tests/unit/messages/")

# What a regular expression asks of the characters beside a match.
ASSERTION = re.compile(r"\\b|\(\?<?!(?:\[[^]]*\]|[^()\[])*\)")


@dataclass(frozen=True)
class Replaced:
    """A word that is not used any more.

    `pattern`: a regular expression, without regard to case. It is also held against paths.
    `use`: what stands in its place. `under`: the folders in which the word has that meaning; empty:
    all. `prose`: only comments and documents are looked at. `after`: what may stand in front of the
    word and makes it another one.
    """

    pattern: str
    use: str
    under: tuple = ()
    prose: bool = False
    after: str = ""

    @functools.cached_property
    def rule(self):
        return re.compile(self.pattern, re.IGNORECASE)

    @functools.cached_property
    def without_assertions(self):
        """Matches, in lower case, wherever `rule` does and in more places. A pattern that begins
        with letters is found several times faster than one that begins with an assertion."""
        return re.compile(ASSERTION.sub("", self.pattern))


def whole(pattern):
    """The pattern as a part of an identifier: `_` may stand on either side, letters may not."""
    return rf"(?<![a-z])(?:{pattern})(?![a-z])"


REPLACED = (
    # The modules.
    Replaced(r"\brooms? of the source\b|\bthis room(?:'s)?\b|\bupper rooms?\b", "module"),
    Replaced(r"\b(?:the|a) room (?:above|below)\b|\brooms (?:above|below)\b", "module"),
    Replaced(r"\bheadway_room\b|\brooms\.cmake|\broom '", "module"),
    Replaced(r"(?<![\w/])engine/\w+\.[ch]pp|src/engine\b|unit/engine\b", "runtime/…"),
    Replaced(r"\bheadway_engine\b|\bheadway::engine\b", "runtime"),
    Replaced(whole("endpoint_calls"), "c_api/endpoints"),
    Replaced(whole("progress_c"), "c_api/progress"),
    # Launch.
    Replaced(whole("reception_desk"), "rendezvous_server"),
    Replaced(whole("meeting_(?:socket|key)"), "stream_socket, rendezvous_key"),
    Replaced(whole("greetings?"), "rendezvous_handshake"),
    Replaced(whole("cards?|unpack_card|pack_card"), "kvs_record", LAUNCH),
    # Drivers.
    Replaced(r"\brank \{\}", "peer {}", BELOW_RANKS),
    Replaced(whole("hears?|heard"), "last activity", BELOW_RANKS),
    Replaced(whole("grumbles?"), "rate_limited_log"),
    Replaced(r"\btcp/meeting\b|\btcp/caller\b|\bcaller\.[ch]pp|\bclass caller\b",
             "connection_manager, pending_connection"),
    Replaced(whole("strangers?"), "unauthenticated"),
    Replaced(whole("notice[_ -]boards?"), "shm_collective"),
    Replaced(whole("basic_notice"), "exchange_slot"),
    Replaced(r"\bshared_board\b|\brails/board\b|\brails::board\b|\bclass board\b", "shm_slots"),
    Replaced(r"\bboard\(\)|\bboard_at\b", "shared_lines"),
    Replaced(whole("memory_nearby"), "peer_memory"),
    Replaced(r"\brails/neighbours\b|\brails::neighbours\b|\bclass neighbours\b", "peer_memory"),
    # Composition.
    Replaced(whole("doors?"), "nic_addresses"),
    Replaced(r"\bpartners\.[ch]pp|\bfind_partners\b", "peer_rails"),
    Replaced(r"\bpairing(?:_test)?\.[ch]pp", "rail_matching"),
    # Progress.
    Replaced(whole("kept_weight"), "boost_cache"),
    Replaced(whole("giving_way"), "idle_backoff"),
    Replaced(r"\bstanding(?:_test)?\.[ch]pp|\b(?:class|struct) standing\b|\bstanding\s+\w+[;(]",
             "sched_boost", PROGRESS),
    Replaced(whole("crowd|crowded|crowds"), "overflow_waiters (waiters), oversubscribed (load)"),
    Replaced(whole("sentry|sentries"), "kernel_sleeper"),
    Replaced(r"\bprogress/guard\b|\bclass guard\b|\bguard(?:_test)?\.[ch]pp", "kernel_sleeper"),
    Replaced(r"\b(?:the|as|be|is) guard\b(?!s)", "kernel sleeper", PROGRESS, prose=True),
    Replaced(
        r"\bleaders?\b(?!/follower)", "wait leader", PROGRESS, prose=True, after=r"wait[\s/*_-]*"
    ),
    Replaced(r"\b(?:the|takes|vacant) lead\b", "wait leader", PROGRESS, prose=True),
    Replaced(r"\bprogress/pace\b|\bclass pace\b|\bpace(?:_test)?\.[ch]pp", "poll_interval"),
    Replaced(whole("unrun"), "taken_count"),
    # Packets, messages, end-points.
    Replaced(whole("keepers?"), "bundle_set", ("src/packets/", "tests/unit/packets/")),
    Replaced(whole("(?:un)?park(?:ed|s)?"), "unexpected", MESSAGES),
    Replaced(whole("offers?|grants?"), "rts, cts", ("src/messages/", "tests/unit/messages/")),
    Replaced(whole("demote[sd]?"), "fall_back_to_rts"),
    Replaced(r"\bpackets/outgoing\b|\bpackets::outgoing\b", "send_item"),
    Replaced(whole("errands?"), "notify_once"),
    Replaced(r"\btrial(?:_test)?\.[ch]pp|\bclass trial\b|\btrial<", "adaptive_retry"),
    Replaced(r"\bendpoints/rooms\b|\bstruct rooms\b|\bno_more_here\b", "preposted_zones"),
    # Base.
    Replaced(r"\bbase/beside\b|\bruns?_beside(?:_computing)?\b", "thread_role"),
    Replaced(r"\bbase/hide\b|\bbase::hide\b", "optimizer_barrier"),
    Replaced(r"\bbase/sequenced\b|\b(?:read|write)_sequenced\b|\bsequenced_model\b", "seqlock"),
    # MPI.
    Replaced(r"(?<![a-z_])(?:meaning_(?!of\b)|making_)\w+", "the chapter's name"),
    Replaced(r"\bmpi/others\b", "the chapter's name"),
    # How sentences are written.
    Replaced(r"\b(?:he|him|his|she)\b", "it", prose=True),
    Replaced(
        r"\b(?:nobody|somebody|anybody|whoever|whom)\b", "no thread, a rank, whichever process, …",
        prose=True, after=r"user `",
    ),
    Replaced(r"\bbelie(?:f|ves?|ved|ving)\b", "takes as, assumes", prose=True),
)


def is_document(path):
    return path.endswith((".md", ".txt")) and not path.endswith("CMakeLists.txt")


def is_checked(path):
    return path.startswith(CHECKED) or path in CHECKED_FILES


def line_of(text, position):
    return text.count("\n", 0, position) + 1


CXX_TOKEN = re.compile(
    r'R"(?P<d>\w*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)",
    re.DOTALL,
)
PYTHON_TOKEN = re.compile(
    r'(?P<comment>""".*?"""|#[^\n]*)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
SHELL_TOKEN = re.compile(r"(?:(?<=\s)|^)(?P<comment>#[^\n]*)", re.MULTILINE)


def blank(text):
    """The same number of lines and columns, with nothing in them."""
    return re.sub(r"[^\n]", " ", text)


def comments_of(path, text):
    """The text with all but its comments (in Python, its docstrings too) blanked out; documents as
    they are."""
    if is_document(path):
        return text
    is_cxx = path.endswith((".hpp", ".cpp", ".h", ".c"))
    tokens = CXX_TOKEN if is_cxx else PYTHON_TOKEN if path.endswith(".py") else SHELL_TOKEN
    out = []
    end = 0
    for match in tokens.finditer(text):
        out.append(blank(text[end : match.start()]))
        out.append(match[0] if match["comment"] else blank(match[0]))
        end = match.end()
    out.append(blank(text[end:]))
    return "".join(out)


def replaced_words(path, text, table=REPLACED):
    """Words of the table in a file's name, its text, or its comments alone."""
    comments = comments_of(path, text)
    lower_case = text.lower()
    for row in table:
        if row.under and not path.startswith(row.under):
            continue
        if not row.prose and (found := row.rule.search(path)):
            yield 1, f"the file's name has '{found[0]}', which is called: {row.use}"
        if not row.without_assertions.search(lower_case):
            continue
        looked_at = comments if row.prose else text
        for found in row.rule.finditer(looked_at):
            before = looked_at[max(0, found.start() - 40) : found.start()]
            if not (row.after and re.search(rf"(?:{row.after})$", before, re.IGNORECASE)):
                line = line_of(looked_at, found.start())
                yield line, f"'{' '.join(found[0].split())}' is called: {row.use}"


# ---- the glossary -------------------------------------------------------------------------------


def glossary_terms(text):
    """(line, term) of each term in the first column of the page's tables."""
    for number, line in enumerate(text.splitlines(), 1):
        cell = re.match(r"\|([^|]*)\|", line)
        if cell and cell[1].strip() not in {"", "term"} and not set(cell[1]) <= set(" :-"):
            for term in cell[1].split(","):
                yield number, term.strip(" `*")


def spellings_of(term):
    """Matches the term and its plural, in prose and in identifiers, also across lines."""
    between = r"[\s/*_-]*"
    words = between.join(re.escape(word) for word in re.split(r"[\s_-]+", term))
    return re.compile(rf"(?<![a-z]){words}s?(?![a-z])", re.IGNORECASE)


def unused_terms(glossary, texts):
    """Terms of the glossary that no text of `texts` has."""
    everything = "\n".join(texts)
    for line, term in glossary_terms(glossary):
        if not spellings_of(term).search(everything):
            yield line, f"the term '{term}' occurs neither in src/ nor in include/"


# ---- cited files --------------------------------------------------------------------------------

# The folders whose comments and documents may only cite files that exist. Those of api/ cite what
# the generator writes, and tests by their names below tests/, which api/scoreboard.py checks.
CITING = tuple(folder for folder in CHECKED if folder != "api/")
# Names of files of other projects, or that are made while building.
FOREIGN = {
    "mpi.h": "generated by api/",
    "mpif.h": "generated by api/",
    "mpi_abi.h": "the standard's name of that header",
    "relacy/relacy.hpp": "Relacy",
    "relacy_std.hpp": "Relacy",
    "linux/if.h": "the kernel's",
    "net/if.h": "the C library's",
}
# Names that several folders have, and that a page may cite for all of them.
COMMON = {"tunables.hpp", "tunables.cpp", "CMakeLists.txt"}
PLACEHOLDER = re.compile(r"NAME|NN|ROOM|MODULE|FILE|(?:^|/)(?:program|x|p)\.\w+$")
CITATION = re.compile(
    r"(?<![\w./<:*{$…-])((?:\.\./)*[A-Za-z_][\w./-]*\.(?:hpp|cpp|h|c|md|py|cmake|txt))(?![\w*>(/])"
)
# Pages of the project's planning, which have no `.md` where they are cited by section.
PLANNING = re.compile(r"\b(?:ARCHITECTURE|CHAPTERS|FIELD|LANGUAGE|PAPERS|STYLE)\b(?= section)")


class Repository:
    """Which files there are, by path and by base name."""

    def __init__(self, paths):
        self.paths = set(paths)
        self.by_name = {}
        for path in self.paths:
            self.by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)

    def has(self, cited, citing):
        """As seen from the root, src/, include/, the citing file's folder or one above it."""
        folder = pathlib.PurePosixPath(citing).parent
        bases = ["", "src/", "include/", *(f"{f}/" for f in (folder, *folder.parents))]
        return any(str_normal(base + cited) in self.paths for base in bases)

    def is_unique_name(self, cited):
        return len(self.by_name.get(cited, ())) == 1


def str_normal(path):
    """The path without `.` and `..`."""
    parts = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def without_examples(path, text):
    """A document without its blocks of code, which name files of the reader's own."""
    if not path.endswith(".md"):
        return text
    text = re.sub(r"^```.*?^```", lambda m: blank(m[0]), text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^(?: {4}|\t).*$", lambda m: blank(m[0]), text, flags=re.MULTILINE)


def missing_files(path, text, repository):
    """Files that a comment or a document names and that are not in the repository."""
    if not path.startswith(CITING) and path not in CHECKED_FILES:
        return
    looked_at = without_examples(path, comments_of(path, text))
    for found in PLANNING.finditer(looked_at):
        line = line_of(looked_at, found.start())
        yield line, f"cites '{found[0]}', which is not in the repository"
    for found in CITATION.finditer(looked_at):
        cited = found[1]
        if cited in FOREIGN or cited in COMMON or PLACEHOLDER.search(cited):
            continue
        if repository.has(cited, path):
            continue
        line = line_of(looked_at, found.start())
        if "/" in cited or cited not in repository.by_name:
            yield line, f"cites '{cited}', which is not in the repository"
        elif not repository.is_unique_name(cited):
            yield line, f"cites '{cited}', of which there are several: say in which folder"
