"""What `octoc report` shows of a workspace: collected once, rendered as HTML, JSON or Markdown."""
