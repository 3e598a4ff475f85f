"""From submitted predictions to a static leaderboard: every score on it is computed here, from the predictions."""
