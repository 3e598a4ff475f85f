"""``python -m turkic_idiom_tasks``: the `turkic-idiom` command, as ``torchrun -m`` needs it."""

import sys
from pathlib import Path

# Python puts the current folder first on the path. A file there that is called like one of our packages, such as
# leaderboard.py, must not take its place; a checkout that is run without an installation does need its folder.
_root = str(Path(__file__).resolve().parent.parent)
if sys.path and str(Path(sys.path[0]).resolve()) == str(Path.cwd()) != _root:
    del sys.path[0]

from turkic_idiom_tasks.cli import main  # noqa: E402

sys.exit(main())
