"""Result files: predictions with their scores, in one format with one writer and one reader."""

# documents per query that records and submissions list; the places of the relevant ones behind them are kept too
TOP_K = 100
