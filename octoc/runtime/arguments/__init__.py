"""Arguments of a call, judged by the tool's schema before anything is sent."""
