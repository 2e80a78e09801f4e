"""Kits: what a swarm carries to recover by itself; learned beforehand from simulated faults.

kit           Kit: its search, its recovery in simulation      stored      its file
playbook      a controller for each fault, without a search
prepare       prepare(): all that follows, step by step
library       the faults that are simulated
cached_trials controllers, teams and faults, simulated batch by batch and kept
fitting       the short list and the prior, from the library's fitness
validation    a kit on faults that took no part, and what is said of it
play          what Kit.recover does: the search against the simulator
"""
