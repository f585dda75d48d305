"""What no game knows of: compiling."""
