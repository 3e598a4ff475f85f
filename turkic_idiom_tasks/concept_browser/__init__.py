"""Browser of concepts: a searchable page of idioms side by side, which the lexicon and the leaderboard share."""
