"""The laws of the simulated world, each written once.

Every law is a plain Python function of scalars in single precision.  Called from Python it is
its own reference; called from a loop it is compiled into it.
"""
