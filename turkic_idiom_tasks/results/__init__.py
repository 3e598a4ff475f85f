"""Result files: predictions with their scores, in one format with one writer and one reader."""
