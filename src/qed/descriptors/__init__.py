"""Descriptors: what distinguishes behaviours, each from the sums of a simulation.

hbd          where the swarm was: uniformity, deviation, coverage
sdbc         how the swarm moved and held together: five features, mean and SD of each
spirit       what a robot did in which sensory state: p(action | state)
"""
