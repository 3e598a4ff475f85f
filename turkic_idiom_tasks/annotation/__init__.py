"""Where an idiom stands in a sentence: word-level matching that knows the suffixes of each language."""
