"""Results for a model: cutting long ones, keeping the rest of them, and wording failures."""
