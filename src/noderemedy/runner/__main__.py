"""`python -m noderemedy.runner`: the command of the Jobs that `wire/fencejobs.py` renders."""

import sys

from noderemedy.runner.program import main

sys.exit(main())
