"""Matches between agents, and what they say."""
