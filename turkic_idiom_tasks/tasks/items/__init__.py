"""Idiom tasks for language models: the items, what is asked, how an answer is read and scored."""
