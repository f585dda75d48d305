"""The self-play learner: configuration, networks as data, training, reports."""
