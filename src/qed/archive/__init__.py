"""Archives: the best solution known for each cell of a space.

archive      Archive: what is kept, and the one way in; Elite: the best solution of a cell
array_store  solutions as named columns, one row a cell; who gets a cell
grid         Space: what an archive needs to know about its cells; Grid: cells by rounding;
             Categories: a cell is a choice of options; Environments: options with names, that a
             search draws itself
cvt          Centroids: a cell is the nearest of some points; the paper's recipes for points
k_means      the nearest of some points, exactly; mini-batch k-means
stored       archives as files, those that come with QED, exports to pandas and pyribs
"""

from qed.archive.archive import Archive, Elite
from qed.archive.cvt import Centroids
from qed.archive.grid import Categories, Environments, Grid, Space

__all__ = ["Archive", "Categories", "Centroids", "Elite", "Environments", "Grid", "Space"]
