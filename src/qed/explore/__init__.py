"""The explorer: a page on this machine that shows archives, breaks robots and recovers them.

sources   what the command line names, opened: archives, runs, studies, kits
maps      an archive and its map as data: where cells are drawn, and what they are in words
state     what is seen, as a link holds it, checked; where robots begin; as Python
swarms    what is seen, simulated while robots break: for the page, and as a film
searches  recoveries, reported step by step while they go on; small kits
queues    work for a page: one simulation at a time, the rest in a queue, stopped when it leaves;
          the simulator made ready before: loaded, or compiled by a process of its own
security  who may ask, and how much
app       all of it behind addresses;  server  on a port of this machine
page/     what the browser gets: plain modules, no build step, nothing from the network
"""
