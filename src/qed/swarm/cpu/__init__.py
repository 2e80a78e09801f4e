"""The engine for CPU cores: only loops, the laws are shared.

Read `rows` for the layout of memory and `cycle` for the order of events.
"""
