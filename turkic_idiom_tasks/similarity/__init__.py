"""Idiomatic similarity: sentence pairs of other data sets in English, Portuguese and Chinese."""
