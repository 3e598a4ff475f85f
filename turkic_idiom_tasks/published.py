"""The paper's published figures, shown beside ours and never ranked with them."""
