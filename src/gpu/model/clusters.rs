//! Products of 2 to 16 rows on NVIDIA, by clusters of blocks (`hip/ops/matmul/rows_cluster.h`).

use super::matmul::{FEW_ROWS, Geometry, MatrixForm, geometry};
use super::matmul_memory::stage_with;
use super::pack::{BLOCK, PackForm, TILE_ROWS};
use crate::driver::{DeviceFacts, Platform};
use crate::gpu::constants::matmul_cluster_q4;

/// Blocks of a cluster, which share the columns.
pub const CLUSTER: usize = matmul_cluster_q4::CLUSTER;
const QUARTERS: usize = matmul_cluster_q4::QUARTERS;
/// Tiles that a cluster's warps take at once.
const AT_A_TIME: usize = QUARTERS * CLUSTER;
/// Rows of the kernels.
const SIZES: [usize; 3] = [4, 8, FEW_ROWS];

/// The rows of the kernel that takes so many.
pub fn cluster_rows(rows: usize) -> usize {
    let size = SIZES.into_iter().find(|size| rows <= *size);
    size.unwrap_or(FEW_ROWS)
}

impl MatrixForm {
    /// Whether so many rows are multiplied by clusters.
    pub fn is_clustered(self, facts: &DeviceFacts, rows: usize) -> bool {
        matches!(self, MatrixForm::Quant(_)) && facts.platform == Platform::Cuda && rows > 1
    }
}

/// Bytes of shared memory of a block that shares out products of so many rows and columns, where it has at most `most`;
/// `None` if there is no room for a norm of so many columns.
pub fn cluster_bytes(form: PackForm, (rows, cols): (usize, usize), most: usize) -> Option<usize> {
    let Geometry { teams, stages, .. } = geometry(Platform::Cuda);
    let own_rows = cluster_rows(rows) / CLUSTER;
    let numbers = AT_A_TIME * own_rows * TILE_ROWS;
    // Barriers of two rounds' sums, these, the squares of rows and what their results are multiplied with.
    let fixed = 16 + (2 * QUARTERS * numbers + own_rows * teams + 16) * 4;
    let longest = form.units(cols).div_ceil(teams);
    let own = teams / CLUSTER * longest * form.unit_blocks() * BLOCK;
    let codes = 2 * ((own * form.bytes_of_x()).next_multiple_of(128) + 64);
    let groups = (own / form.group) | 1;
    let besides = (teams * stages * 8 + fixed + rows * (codes + groups * 8)).next_multiple_of(128);
    let stage = stage_with(form, besides, most);
    // The norm lies where the second stage will.
    (own * 4 <= teams * stage).then_some(besides + teams * stages * stage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::model::Scales;

    /// Of a block of an H200.
    const LOCAL_MEMORY: usize = 227 << 10;

    fn most_rows(cols: usize) -> usize {
        let form = PackForm {
            bits: 4,
            scales: Scales::PairBf16,
            group: 64,
        };
        let fits = |rows: &usize| {
            cluster_bytes(form, (*rows, cols), LOCAL_MEMORY)
                .is_some_and(|bytes| bytes <= LOCAL_MEMORY)
        };
        (2..=FEW_ROWS).rev().find(fits).unwrap_or(1)
    }

    /// W is read once for as many rows as fit: 16 of the widest of 8B, 8 of those of 27B, 70B and 72B.
    #[test]
    fn wide_matrices_are_read_once_for_eight_rows() {
        let found = [1024, 4096, 5120, 12_288, 17_408, 28_672, 29_568, 32_768].map(most_rows);
        assert_eq!(found, [16, 16, 16, 16, 13, 8, 8, 8]);
        // A norm of so many columns has room in large stages alone.
        assert_eq!(most_rows(53_248), 3);
    }

    #[test]
    fn kernels_are_for_four_eight_and_sixteen_rows() {
        let sizes = [2, 4, 5, 8, 9, 16].map(cluster_rows);
        assert_eq!(sizes, [4, 4, 8, 8, 16, 16]);
    }
}
