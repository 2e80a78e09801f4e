"""The GPU engine: loops only, a lane a robot, whole trials in a warp; the laws are shared."""
