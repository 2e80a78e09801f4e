"""Kits: what a swarm carries to recover by itself; learned beforehand from simulated faults.

library    the faults that are simulated
notebook   what was simulated so far, in a file, so that nothing is lost
field      controllers, teams and faults, simulated page by page
fitting    the short list and the prior, from the library's fitness
playbook   a controller for each fault
validate   a kit on faults that took no part
mixed      playbook and teams in swarms of different faults
words      what was found, in plain words
prepare    prepare(): all of these, one after the other
kit        Kit: what comes of it, as a file
play       the search against the simulator
recovered  recover() with a kit; diagnosis: robots that are wrong about themselves
"""
