"""``python -m turkic_idiom_tasks``: the `turkic-idiom` command, as ``torchrun -m`` needs it."""

import sys

from turkic_idiom_tasks.cli import main

sys.exit(main())
