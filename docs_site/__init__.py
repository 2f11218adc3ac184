"""The docs site: pages of this tree as they are, and reference pages made from the code. `make docs` builds it.

`python -m docs_site` writes the pages and the configuration to `build/docs`, with the packages of octoc alone; the site
generator, in an environment of its own, turns them into `site/`.
"""
