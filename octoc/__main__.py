"""`python -m octoc`: the command line."""

import sys

from octoc.cli import main

sys.exit(main())
