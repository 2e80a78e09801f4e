"""Archives: the best solution known for each cell of a space.

archive   Archive, Elite: what is kept, and the one way in
space     Space: what an archive needs to know about its cells
grid      Grid: cells by rounding; Categories: a cell is a choice of options; Environments:
          options with names, that a search draws itself
cvt       Centroids: a cell is the nearest of some points; SpiritCells: points of a recipe
recipes   the paper's recipes for points, made once and kept in the user's cache
minibatch mini-batch k-means
nearest   the nearest of some points, exactly
columns   solutions as named columns, one row a cell
stored    an archive as a file, and back
files     arrays and a JSON header in one npz file, whole or not at all
export    archives for pandas and pyribs
"""

from qed.archive.archive import Archive, Elite
from qed.archive.cvt import Centroids
from qed.archive.grid import Categories, Environments, Grid
from qed.archive.space import Space

__all__ = ["Archive", "Categories", "Centroids", "Elite", "Environments", "Grid", "Space"]
