"""Skills of a session: which a message uses, what using one brings, and the tool `skill`.

A used skill's text goes into the conversation, behind all that is there, so that no prompt prefix changes; its
capabilities are activated like any other, in the agent's own registry and under the same limit.
"""
