"""The command lines of `headway bench`, `headway report` and bench/compare: what is wrong with one
is said in one line, with the word that was probably meant."""

import argparse
import difflib


def nearest(word, known):
    """The known word that a misspelt one probably stands for; empty: none is near."""
    return next(iter(difflib.get_close_matches(word, known, n=1)), "")


class Parser(argparse.ArgumentParser):
    """As argparse's, but for its messages. Its `prog` is the command as it is typed."""

    def parse_args(self, args=None, namespace=None):
        for word in args:
            if word == "--":
                break
            if word.startswith("--"):
                self.check_option(word.partition("=")[0])
        return super().parse_args(args, namespace)

    def check_option(self, word):
        known = [name for name in self._option_string_actions if name.startswith("--")]
        if any(name.startswith(word) for name in known):  # its beginning is enough
            return
        near = nearest(word[2:], [name[2:] for name in known])
        self.error(f"unknown option {word}: did you mean --{near}?" if near
                   else f"unknown option {word} ({self.prog} --help)")

    def error(self, message):
        self.exit(2, f"{self.prog.replace(' ', ': ')}: {message}\n")


def split_at(words, mark):
    """The words before the first `mark`, the mark itself, and those behind it."""
    index = words.index(mark) if mark in words else len(words)
    return words[:index], mark, words[index + 1 :]
