"""The tools of a bundle: by number, in an agent's registry, and in its model's tool block."""
