# SPDX-License-Identifier: MIT
"""A cockpit on the training loops of other packages, a module each, imported only where it is asked for.

    from flightdeck.integrations.lightning import FlightdeckCallback
    from flightdeck.integrations.transformers import FlightdeckCallback
    from flightdeck.integrations.accelerate import attach
    from flightdeck.integrations.ignite import attach

Their losses are scalars. What a quantity cannot get from one is told by the cockpit's own remarks.
"""
