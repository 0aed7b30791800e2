# SPDX-License-Identifier: MIT
"""``python -m flightdeck`` is ``flightdeck``."""

import sys

from ._tool import main

sys.exit(main())
