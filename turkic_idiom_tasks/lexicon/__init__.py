"""The aligned lexicon: its records, its files, its checks."""
