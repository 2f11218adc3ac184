"""The tools of a bundle: by number, as one agent has them, and as its model is shown them."""
