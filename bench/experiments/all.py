"""Every experiment, in the order of docs/papers.md. A new one is a file here and a line below."""

from . import (
    e01, e02, e03, e04, e05, e06, e07, e08, e09, e10, e11, e12, e13, e14, e15, e16, e17, e18, e19,
    e20, e21,
)  # fmt: skip

EXPERIMENTS = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        e01,
        e02,
        e03,
        e04,
        e05,
        e06,
        e07,
        e08,
        e09,
        e10,
        e11,
        e12,
        e13,
        e14,
        e15,
        e16,
        e17,
        e18,
        e19,
        e20,
        e21,
    )
}
