"""Search a short list of controllers in a broken swarm, with few trials and no simulator.

seen       what was tried and what it gave
gaussian   a Gaussian prior over the fitness of all controllers, and its posterior
gradient   what a further trial is worth
strategies which controller to try next: learned, map, portfolio, random, exhaustive
search     ask and tell: the loop's two halves, what it believes, and its state
teams      the same over teams, when robots tell what is broken in them
"""
