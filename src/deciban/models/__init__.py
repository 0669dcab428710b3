"""Settings, state and posterior of generative classifiers."""
