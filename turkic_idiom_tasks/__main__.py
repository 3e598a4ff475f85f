"""``python -m turkic_idiom_tasks`` is ``turkic-idiom``."""

import sys

from turkic_idiom_tasks.cli import main

sys.exit(main())
