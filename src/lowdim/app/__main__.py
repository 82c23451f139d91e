"""``python -m lowdim.app`` is the same as ``lowdim``."""

import sys

from .cli import main

sys.exit(main())
