"""``python -m lowdim.app`` is the same as ``lowdim``."""

import sys

from lowdim.app.cli import main

sys.exit(main())
