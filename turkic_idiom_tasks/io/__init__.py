"""Files, untrusted text, CSV and the Hub: everything that is read or written."""
