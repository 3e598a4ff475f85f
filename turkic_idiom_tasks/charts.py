"""Charts as Vega-Lite and SVG."""
