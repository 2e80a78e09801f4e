"""``python -m qed`` is the same as ``qed``."""

from qed.cli import main

main()
