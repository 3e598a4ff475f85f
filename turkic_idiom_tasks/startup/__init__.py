"""The start-up hook and what it registers with mteb; importing this package must cost nothing."""
