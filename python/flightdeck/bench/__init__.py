# SPDX-License-Identifier: MIT
"""``python -m flightdeck.bench overhead``: what a cockpit costs beside a training step, in Python."""
