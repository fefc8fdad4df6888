"""Runs one benchmark with several MPI libraries in turns, and compares them."""
