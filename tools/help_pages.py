#!/usr/bin/env python3
"""Writes man pages, and completions for bash and zsh, out of what commands print for --help.

    tools/help_pages.py --out build/release/share --version 0.1.0 bin/mpiexec:mpirun bin/headway …

A command is a path, after which further names of it may follow. Below --out lie man/man1,
bash-completion/completions and zsh/site-functions. The subcommands of a command get pages of their
own: headway-info(1). The texts may be those of CLI11, argparse, or written by hand in their form:
a line `usage: …`, headings that end with a colon, options indented by two blanks and parted from
their explanations by two or more, explanations that go on in lines indented further.
"""

import argparse
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass, field


@dataclass
class Entry:
    """An option, or a subcommand: its `signature` as "-n N, -np N", and what it means."""

    signature: str
    meaning: str

    def words(self):
        """What may be typed: [("-n", "N"), ("-np", "N")]. The value is empty if there is none."""
        found = []
        for part in re.split(r",\s*(?=[-:])", self.signature):
            match = re.match(r"([-:][\w?:-]*=?|\S+)\s*(.*)", part)
            word, value = match.groups()
            if word.startswith(":") and found:  # "-showme:compile, :link"
                word = found[0][0].rpartition(":")[0] + word
            found.append((word, value))
        return found

    def is_option(self):
        return self.signature.startswith("-")


@dataclass
class Section:
    heading: str  # without the colon; empty: the entries follow the usage
    entries: list = field(default_factory=list)


@dataclass
class Help:
    usage: str = ""
    paragraphs: list = field(default_factory=list)  # before the first section; verbatim: indented
    sections: list = field(default_factory=list)
    notes: list = field(default_factory=list)  # paragraphs after the first section

    def summary(self):
        """What the command does, in one clause; without "NAME: " in front of it."""
        text = next((part for part in self.paragraphs if not part.startswith(" ")), "")
        return re.split(r"[.;] |\.$", re.sub(r"^\w+: ", "", text))[0]

    def options(self):
        return [entry for part in self.sections for entry in part.entries if entry.is_option()]

    def subcommands(self):
        return [entry for part in self.sections if part.heading == "Subcommands"
                for entry in part.entries]


class Reader:
    """Reads the lines of a help text from the first to the last."""

    def __init__(self, text):
        self.lines = text.expandtabs().rstrip().splitlines()
        self.made = Help()

    def read(self):
        at = 0
        while at < len(self.lines):
            at = self.read_at(at)
        return self.made

    def read_at(self, at):
        """Reads what begins at a line. The first line after it."""
        line = self.lines[at]
        if not line.strip():
            return at + 1
        if re.match(r"usage:", line, re.IGNORECASE) and not self.made.usage:
            end = self.end_of_block(at, lambda later: later.startswith("   "))
            words = " ".join(part.strip() for part in self.lines[at:end])
            self.made.usage = words.partition(":")[2].strip()
            return end
        if re.match(r" {2}-", line) or (self.made.sections and re.match(r" {2}\S", line)):
            return self.read_entry(at)
        if line[0] != " " and self.has_entries(at):
            self.made.sections.append(Section(line.rstrip(":")))
            return at + 1
        return self.read_paragraph(at)

    def has_entries(self, at):
        following = self.lines[at + 1] if at + 1 < len(self.lines) else ""
        return self.lines[at].endswith(":") and re.match(r" {2}\S", following)

    def end_of_block(self, at, belongs):
        end = at + 1
        while end < len(self.lines) and self.lines[end].strip() and belongs(self.lines[end]):
            end += 1
        return end

    def read_entry(self, at):
        end = self.end_of_block(at, lambda later: later.startswith("   "))
        signature, _, meaning = re.sub(r" {2,}", "\0", self.lines[at].strip()).partition("\0")
        parts = [meaning, *(part.strip() for part in self.lines[at + 1:end])]
        if not self.made.sections:
            self.made.sections.append(Section(""))
        self.made.sections[-1].entries.append(Entry(signature, " ".join(filter(None, parts))))
        return end

    def read_paragraph(self, at):
        verbatim = self.lines[at].startswith(" ")
        end = self.end_of_block(
            at, lambda later: later.startswith(" ") == verbatim
            and not re.match(r" {2}-|usage:", later, re.IGNORECASE))
        while end > at + 1 and self.has_entries(end - 1):
            end -= 1  # a heading directly below the paragraph
        lines = self.lines[at:end]
        text = "\n".join(lines) if verbatim else " ".join(lines)
        (self.made.notes if self.made.sections else self.made.paragraphs).append(text)
        return end


class HelpError(Exception):
    pass


def help_of(command, *words):
    """Errors: HelpError with the command's last line."""
    done = subprocess.run([str(command), *words, "--help"], text=True, capture_output=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().rpartition("\n")[2]
        raise HelpError(f"{' '.join([str(command), *words])} --help: {last}")
    return Reader(done.stdout).read()


def help_of_subcommands(path, text):
    """{name: help}. One that cannot run here is left out, such as `headway bench` without
    /usr/bin/python3."""
    found = {}
    for entry in text.subcommands():
        try:
            found[entry.signature] = help_of(path, entry.signature)
        except HelpError as fault:
            print(f"help_pages: no page: {fault}", file=sys.stderr)
    return found


# ---- man pages ----------------------------------------------------------------------------------


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE)


def signature_in_roff(signature):
    """Options bold, what stands for a value in italics."""
    def styled(match):
        word = match.group()
        return f"\\fB{roff(word)}\\fR" if word[0] in "-:" else f"\\fI{roff(word)}\\fR"
    parts = re.split(r"([-:][\w?:-]+|\b[A-Z][A-Z:]*\b)", signature)
    return "".join(styled(re.match(".*", part)) if index % 2 else roff(part)
                   for index, part in enumerate(parts))


def paragraphs_in_roff(paragraphs):
    for text in paragraphs:
        if text.startswith(" "):
            yield f".PP\n.nf\n{roff(text)}\n.fi"
        else:
            yield f".PP\n{roff(text)}"


def man_page(name, text, version, others):
    summary = text.summary()
    if not summary[:2].isupper():
        summary = summary[:1].lower() + summary[1:]
    lines = [f'.TH "{name.upper()}" 1 "" "Headway {version}" "Headway"',
             ".SH NAME", f"{roff(name)} \\- {roff(summary)}",
             ".SH SYNOPSIS", signature_in_roff(text.usage)]
    if text.paragraphs:
        lines += [".SH DESCRIPTION", *paragraphs_in_roff(text.paragraphs)]
    for part in text.sections:
        own_heading = part.heading.lower() in ("positionals", "positional arguments", "subcommands",
                                               "options", "")
        if own_heading or part is text.sections[0]:
            lines.append(f".SH {roff(part.heading.upper() if own_heading else '') or 'OPTIONS'}")
        if not own_heading:
            lines.append(f".SS {roff(part.heading)}")
        for entry in part.entries:
            lines += [".TP", signature_in_roff(entry.signature), roff(entry.meaning)]
    if text.notes:
        lines += [".SH NOTES", *paragraphs_in_roff(text.notes)]
    also = ", ".join(f"\\fB{roff(other)}\\fR(1)" for other in others if other != name)
    lines += [".SH SEE ALSO", also]
    return "\n".join(lines) + "\n"


# ---- completion ---------------------------------------------------------------------------------


def in_quotes(text):
    return "'" + text.replace("'", "'\\''") + "'"


def bash_words(text):
    words = [word for entry in text.options() for word, _ in entry.words()]
    words += [entry.signature for entry in text.subcommands()]
    return in_quotes(" ".join(dict.fromkeys(words)))


def bash_completion(names, text, subcommands, runs_programs):
    cases = "".join(f"    {name}) words={bash_words(sub)} ;;\n"
                    for name, sub in subcommands.items())
    choice = f"  case ${{COMP_WORDS[1]}} in\n{cases}  esac\n" if cases else ""
    kind = "-c" if runs_programs else "-f"
    function = f"_headway_complete_{names[0].replace('+', 'x')}"
    return f"""# Completion of {', '.join(names)} for bash; written from --help.
{function}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words={bash_words(text)}
{choice}  COMPREPLY=()
  if [[ $current == -* || {int(bool(subcommands))} = 1 && $COMP_CWORD = 1 ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    [[ ${{COMPREPLY[0]-}} == *= ]] && compopt -o nospace 2>/dev/null
  elif [[ -n $current ]]; then
    mapfile -t COMPREPLY < <(compgen {kind} -- "$current")
  fi
}}
complete -o default -F {function} {' '.join(names)}
"""


def zsh_specifications(text):
    """One for each spelling of each option."""
    seen = set()
    for entry in text.options():
        meaning = re.sub(r"([\[\]:\\])", r"\\\1", entry.meaning)
        for word, value in entry.words():
            if word.rstrip("=") in seen:
                continue
            seen.add(word.rstrip("="))
            if ":" in word:
                word = word.replace(":", "\\:")
            files = "_files" if re.search("FILE|F$", value) else " "
            kind = "_files -/" if "DIR" in value else files
            action = f":{value.split(' ')[0].replace(':', ' ')}:{kind}" if value else ""
            if word.endswith("="):
                word, action = word[:-1] + "=-", ":value: "
            yield in_quotes(f"{word}[{meaning}]{action}")


def zsh_arguments(text, rest):
    lines = [*zsh_specifications(text), rest]
    return "_arguments \\\n" + " \\\n".join(f"    {line}" for line in lines)


def zsh_completion(names, text, subcommands, runs_programs):
    head = f"#compdef {' '.join(names)}\n# Completion for zsh; written from --help.\n"
    rest = "'*:file:_files'"
    if runs_programs:
        return head + zsh_arguments(text, "'*::program: _normal'") + "\n"
    if not subcommands:
        return head + zsh_arguments(text, rest) + "\n"
    listed = "\n".join(f"    {in_quotes(entry.signature + ':' + entry.meaning)}"
                       for entry in text.subcommands())
    cases = "\n".join(f"  {name})\n  {zsh_arguments(sub, rest)} ;;"
                      for name, sub in subcommands.items())
    return f"""{head}if (( CURRENT == 2 )); then
  local -a commands=(
{listed}
  )
  _describe command commands
  return
fi
local command=$words[2]
shift words
(( CURRENT-- ))
case $command in
{cases}
esac
"""


# ---- files --------------------------------------------------------------------------------------


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("commands", nargs="+", metavar="PATH[:NAME…]")
    options = parser.parse_args()
    helps = {}  # by the page's name
    for command in options.commands:
        path, *aliases = command.split(":")
        names = [pathlib.Path(path).name, *aliases]
        text = helps[names[0]] = help_of(path)
        subs = help_of_subcommands(path, text)
        helps |= {f"{names[0]}-{name}": sub for name, sub in subs.items()}
        runs_programs = "PROGRAM" in text.usage
        for alias in aliases:
            write(options.out / f"man/man1/{alias}.1", f".so man1/{names[0]}.1\n")
        for name in names:
            write(options.out / f"bash-completion/completions/{name}",
                  bash_completion(names, text, subs, runs_programs))
        write(options.out / f"zsh/site-functions/_{names[0]}",
              zsh_completion(names, text, subs, runs_programs))
    for name, text in helps.items():
        write(options.out / f"man/man1/{name}.1", man_page(name, text, options.version, helps))
    return 0


if __name__ == "__main__":
    sys.exit(main())
