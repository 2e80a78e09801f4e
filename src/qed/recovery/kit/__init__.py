"""Kits: what a swarm carries to recover by itself; learned beforehand from simulated faults.

library    the faults that are simulated
notebook   what was simulated so far, in a file, so that nothing is lost
shortlist  the few controllers that matter
fitting    the prior, from the library's fitness
playbook   a controller for each fault
prepare    prepare(): all of these, one after the other
kit        Kit: what comes of it, as a file
play       the search against the simulator
"""
