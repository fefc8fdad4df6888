"""The experiments of the papers, by name: what `headway bench` runs. One file each, see all.py."""
