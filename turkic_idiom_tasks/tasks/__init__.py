"""Data, prompts, answers and scores of each kind of task."""
