"""Access tokens of identity providers: JWT that are verified here, with keys that the provider publishes.

`verifier.py` says of a token what it opens or why it is refused; `provider_keys.py` keeps the keys of a provider.
"""
