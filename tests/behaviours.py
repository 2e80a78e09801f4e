import qed

STILL = qed.Controller([], [0.0, 0.0])
STRAIGHT = qed.Controller([(15, 16, 1.0), (15, 17, 1.0)], [0.0, 0.0])
PATROLLER = AGGREGATOR = FLOCKER = STRAIGHT
