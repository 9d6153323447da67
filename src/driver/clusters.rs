//! Blocks of a launch that run at the same time and reach each other's local memory: clusters (CUDA).

use super::api::{Api, Vendor};
use super::graph::Launch;
use super::status::Code;
use super::sys::cuda;
use super::table::NodeHandle;
use crate::Result;

/// What asks for clusters of so many blocks along x.
pub(super) fn cluster_attribute(blocks: u32) -> cuda::CUlaunchAttribute {
    let mut value = cuda::CUlaunchAttributeValue { pad: [0; 64] };
    value.clusterDim = cuda::CUlaunchAttributeValue_union__bindgen_ty_1 {
        x: blocks,
        y: 1,
        z: 1,
    };
    cuda::CUlaunchAttribute {
        id: cuda::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        pad: [0; 4],
        value,
    }
}

impl Api {
    /// Asks for clusters of so many blocks of a graph's kernel; of one: nothing.
    ///
    /// # Safety
    /// A live kernel node.
    pub(super) unsafe fn graph_set_cluster(&self, node: NodeHandle, blocks: u32) -> Result<()> {
        let Vendor::Cuda(functions, _) = &self.vendor else {
            return Ok(());
        };
        if blocks <= 1 {
            return Ok(());
        }
        let attribute = cluster_attribute(blocks);
        // SAFETY: the caller's; the driver reads the value during the call.
        let code =
            Code(unsafe { (functions.graph_set_attribute)(node, attribute.id, &attribute.value) });
        self.check(code, || "asking for clusters of a graph's kernel".into())
    }

    /// How many of a launch's clusters run at once (CUDA); 0 elsewhere.
    ///
    /// # Errors
    /// The driver's.
    ///
    /// # Safety
    /// The kernel is loaded.
    pub unsafe fn clusters_at_once(&self, launch: &Launch) -> Result<u32> {
        let Vendor::Cuda(functions, _) = &self.vendor else {
            return Ok(0);
        };
        let mut attributes = [cluster_attribute(launch.cluster)];
        let config = launch.cuda_config(&mut attributes, std::ptr::null_mut());
        let mut count = 0;
        // SAFETY: the caller's; the driver reads the configuration and writes one integer during the call.
        let code = Code(unsafe { (functions.most_clusters)(&mut count, launch.function, &config) });
        self.check(code, || "asking how many clusters run at once".into())?;
        Ok(u32::try_from(count).unwrap_or(0))
    }
}
