"""Runs one benchmark with several MPI libraries in turns, and says how they compare."""
