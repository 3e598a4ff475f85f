"""Corpora of other projects, each with its own reader; what the tasks need of Turkic idioms is not here."""
