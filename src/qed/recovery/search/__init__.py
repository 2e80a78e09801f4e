"""Search a short list of controllers in a broken swarm, with few trials and no simulator.

gaussian   what was tried; a Gaussian prior over the fitness of all controllers, its posterior
strategies which controller to try next: learned, map, portfolio, random, exhaustive
search     ask and tell: the loop's two halves, what it believes, and its state
teams      the same over teams, when robots diagnose themselves
"""
