"""Skills of a session: which skills a message uses, the effects of using one, and the tool `skill`.

A used skill's text goes to the end of the conversation, so that no prompt prefix changes. Its capabilities are
activated like any other, in the agent's own registry and under the same limit.
"""
