"""From sources to a lexicon to a dataset in the Hub layout: readers, import, export."""
