"""A folder of files to a repository on the Hub: what would change, and one commit that changes it."""
