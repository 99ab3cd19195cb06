// The order in which a grid's tiles are computed: groups of `group_m` rows of tiles, column by column within a group, so
// that tiles computed at about the same time share their operands in the cache (GROUP_SIZE_M of Triton's matrix product).
#ifndef HONE_TILE_ORDER_H
#define HONE_TILE_ORDER_H

#include "prelude.h"

struct hone_tile_order {
  u32 along_m, along_n, group_m;

  hone_tile_order() = default;
  HONE_DEVICE hone_tile_order(u32 tiles_m, u32 tiles_n, u32 rows_of_a_group)
      : along_m(tiles_m), along_n(tiles_n), group_m(rows_of_a_group) {}

  HONE_DEVICE u32 tiles() const { return along_m * along_n; }

  HONE_DEVICE void place(u32 tile, u32& m, u32& n) const {
    const u32 in_group = group_m * along_n;
    const u32 first = tile / in_group * group_m;
    const u32 left = along_m - first;
    const u32 rows = left < group_m ? left : group_m;
    const u32 within = tile % in_group;
    m = first + within % rows;
    n = within / rows;
  }
};

#endif
