"""Whole experiments: every model, language, sample size and seed of a grid, and its tables."""
