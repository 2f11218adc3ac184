"""Signatures of bundles: keys, the signature file, the trust file, and the check before a bundle is opened."""
