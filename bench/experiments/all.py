"""Every experiment, in the order of docs/papers.md. A new one is a file here and a line below."""

from . import e01, e09

EXPERIMENTS = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        e01,
        e09,
    )
}
