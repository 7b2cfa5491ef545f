"""`python -m skillyard`."""

import sys

from skillyard.cli.main import main

sys.exit(main())
