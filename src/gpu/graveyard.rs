//! What was dropped while queued work still used it.

use super::device::Device;
use super::uses::Marks;
use crate::driver::{ExecutableHandle, ModuleHandle, Packed};
use parking_lot::Mutex;

/// Driver objects that wait for the end of the work that uses them.
#[derive(Default)]
pub(super) struct Graveyard(Mutex<Vec<(Marks, Remains)>>);

/// Driver objects without an owner.
#[derive(Default)]
pub(super) struct Remains {
    pub modules: Vec<ModuleHandle>,
    pub executables: Vec<ExecutableHandle>,
    /// Arguments that the executables point to.
    pub packs: Vec<Packed>,
}

impl Graveyard {
    /// Takes over objects whose owner is gone; destroys them at once if nothing uses them.
    pub fn bury(&self, device: &Device, marks: Marks, remains: Remains) {
        if device.enter().is_ok() && device.all_done(&marks) {
            destroy(device, remains);
        } else {
            self.0.lock().push((marks, remains));
        }
    }

    /// Destroys what is not used any more. The device is current.
    pub fn sweep(&self, device: &Device) {
        let waiting = std::mem::take(&mut *self.0.lock());
        let (done, rest): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|(marks, _)| device.all_done(marks));
        self.0.lock().extend(rest);
        done.into_iter()
            .for_each(|(_, remains)| destroy(device, remains));
    }
}

fn destroy(device: &Device, remains: Remains) {
    for executable in remains.executables {
        // SAFETY: its owner is gone and no launch of it is under way.
        unsafe { device.api.executable_destroy(executable) };
    }
    drop(remains.packs);
    for module in remains.modules {
        // SAFETY: its owners are gone and none of its kernels run.
        unsafe { device.api.module_unload(module) };
    }
}
