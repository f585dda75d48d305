"""Agents, found by name, and the learner."""
