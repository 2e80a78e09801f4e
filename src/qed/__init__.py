"""QED: evolve resilient robot swarms, break them, and find the controller that recovers them."""
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.controller.network import Controller
from qed.swarm.simulate import simulate
from qed.swarm.start import Start
from qed.swarm.trace import trace
