"""The explorer: a page on this machine that shows archives, breaks robots and recovers them.

sources      what the command line names, opened: archives, runs, studies, kits
maps         an archive's map as data: where its cells are drawn, and what they are in words
state        what is seen, as a link holds it, checked
recording    a world that is watched while robots break
swarms       what is seen, simulated, as bytes for the page
searches     recovery, told step by step while it goes on
lines, film  what is seen, as Python and as a film
jobs         work for a page: one simulation at a time, the rest queued, stopped when it leaves
security     who may ask, and how much
app          all of it behind addresses;  server  on a port of this machine
page/        what the browser gets: plain modules, no build step, nothing from the network
"""
