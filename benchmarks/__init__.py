"""Every figure that octoc claims, each one command: `python -m benchmarks.<name>` from the checkout."""
