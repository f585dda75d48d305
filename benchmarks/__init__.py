"""Measurements: run by `make bench` or one by one; their results are JSON files in `benchmarks/results/`."""
