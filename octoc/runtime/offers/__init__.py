"""Resources, prompts and completions of servers. A workspace whose servers have none imports nothing from here."""
