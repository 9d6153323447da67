//! Steps of a loop on a GPU that replace a part of an array: in its memory, if nobody else sees that, in memory of their
//! own otherwise. `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/gpu.rs"]
mod gpu;

use mlxrocm::array::{Array, Home, eval, plan_counts, queue, use_plans};
use mlxrocm::cpu::Elements;
use mlxrocm::gpu::Device;
use mlxrocm::gpu::arrays::{Chains, use_chains};
use mlxrocm::ir::{Binary, Dtype, Reduce, ScatterReduce, Shape};
use std::sync::Arc;

const ROWS: usize = 24;
const COLUMNS: usize = 5;
const WIDE: usize = 1024;

struct World {
    device: Arc<Device>,
    home: Home,
    gpu: gpu::Gpu,
}

impl World {
    fn new() -> World {
        use_chains(Chains::Off);
        let gpu = match gpu::is_real() {
            true => gpu::gpu(),
            false => {
                let target = gpu::todays(&["gfx1151", "gfx90a"]);
                gpu::soft(&format!("devices={target};vram_mib=512"))
            }
        };
        let device = Device::open(0).unwrap();
        let home = Home::of(&device).unwrap();
        World { device, home, gpu }
    }

    fn end(self) {
        let World { device, home, gpu } = self;
        drop((device, home));
        gpu.clean();
    }

    fn array<T: bytemuck::Pod>(&self, numbers: &[T], dtype: Dtype, sizes: &[usize]) -> Array {
        let elements = Elements::from_slice(numbers, dtype, sizes).unwrap();
        Array::from_elements(elements).at(&self.home)
    }

    fn zeros(&self, columns: usize) -> Array {
        let zeros = self.array(&vec![0f32; ROWS * columns], Dtype::F32, &[ROWS, columns]);
        eval(std::slice::from_ref(&zeros)).unwrap();
        zeros
    }

    /// `cache` with a row of this number at a row.
    fn put(&self, cache: &Array, row: i64, number: f32) -> Array {
        let columns = cache.shape().numbers().unwrap()[1];
        let update = self.array(&vec![number; columns], Dtype::F32, &[1, columns]);
        let start = self.array(&[row], Dtype::I64, &[1]);
        cache.dynamic_slice_update(&update, &start, &[0]).unwrap()
    }
}

fn numbers(x: &Array) -> Vec<f32> {
    x.read().unwrap().to_vec()
}

/// Rows of these numbers, zeros behind.
fn rows(of: &[f32]) -> Vec<f32> {
    let mut all: Vec<f32> = of.iter().flat_map(|&x| [x; COLUMNS]).collect();
    all.resize(ROWS * COLUMNS, 0.0);
    all
}

/// A step reads all rows so far, whose count is an array and a mask made of it, on the CPU: every step has one plan, and
/// the memory stays that of the first, so that next to none is needed meanwhile.
#[test]
fn a_loop_that_keeps_its_state_is_one_plan() {
    let world = World::new();
    for planned in [false, true] {
        use_plans(planned);
        let before = plan_counts();
        let mut cache = world.zeros(WIDE);
        let mut sum = 0.0;
        let mut last: Option<Array> = None;
        let memory = || world.device.memory().unwrap();
        for row in 0..20 {
            let number = row as f32 / 4.0 - 1.0;
            cache = world.put(&cache, row, number);
            // Made by the CPU each time, of numbers alone.
            let places = Array::arange(0.0, ROWS as f64, 1.0, Dtype::I64).unwrap();
            let now = world.array(&[row], Dtype::I64, &[1]);
            let seen = places
                .at(&world.home)
                .binary(Binary::LessEqual, &now)
                .unwrap();
            let seen = seen
                .astype(Dtype::F32)
                .reshape_to(&[ROWS as i64, 1])
                .unwrap();
            let total = cache
                .times(&seen)
                .unwrap()
                .reduce(Reduce::Sum, None, false)
                .unwrap();
            if row == 5 {
                world.device.reset_peak_memory();
            }
            queue(std::slice::from_ref(&total)).unwrap();
            // The one before is read while this one may still be computed.
            if let Some(before) = last.replace(total) {
                assert_eq!(numbers(&before), [sum], "row {row}, planned: {planned}");
            }
            sum += number * WIDE as f32;
        }
        // Operation by operation there is the product of all rows besides.
        let (used, bytes) = (memory(), (ROWS * WIDE * 4) as u64);
        let more = used.peak - used.active;
        let most = if planned { bytes / 2 } else { bytes * 3 / 2 };
        assert!(more < most, "{more} bytes, planned: {planned}");
        assert_eq!(numbers(&last.unwrap()), [sum]);
        let of: Vec<f32> = (0..20).map(|row| row as f32 / 4.0 - 1.0).collect();
        let all: Vec<f32> = numbers(&cache).chunks(WIDE).map(|row| row[1]).collect();
        assert_eq!(all[..20], of);
        let after = plan_counts();
        let (made, runs) = (after.made - before.made, after.run - before.run);
        match planned {
            true => assert!(made <= 2 && runs >= 16, "{made} plans, {runs} runs"),
            false => assert_eq!((made, runs), (0, 0)),
        }
    }
    world.end();
}

/// Whoever else sees the old elements keeps them: a handle, a view, an operation that waits, a buffer.
#[test]
fn what_others_see_stays() {
    let world = World::new();
    use_plans(true);
    for round in 0..4 {
        let expected = rows(&[1.0]);
        // A handle.
        let old = world.put(&world.zeros(COLUMNS), 0, 1.0);
        eval(std::slice::from_ref(&old)).unwrap();
        let new = world.put(&old, 1, 2.0);
        assert_eq!(numbers(&new), rows(&[1.0, 2.0]), "round {round}");
        assert_eq!(numbers(&old), expected, "round {round}");
        // A view that is there, one that waits, and an operation that waits.
        let view = old.slice(&[0, 0], &[3, COLUMNS as i64], &[1, 1]).unwrap();
        eval(std::slice::from_ref(&view)).unwrap();
        let new = world.put(&old, 0, 3.0);
        drop(old);
        assert_eq!(numbers(&new), rows(&[3.0]), "round {round}");
        assert_eq!(numbers(&view), expected[..3 * COLUMNS], "round {round}");
        let old = world.put(&world.zeros(COLUMNS), 0, 1.0);
        eval(std::slice::from_ref(&old)).unwrap();
        let later = old.plus(&old).unwrap();
        let new = world.put(&old, 0, 4.0);
        drop(old);
        assert_eq!(numbers(&new), rows(&[4.0]), "round {round}");
        assert_eq!(numbers(&later), rows(&[2.0]), "round {round}");
        // The same graph reads them elsewhere.
        let old = world.put(&world.zeros(COLUMNS), 0, 1.0);
        eval(std::slice::from_ref(&old)).unwrap();
        let both = world.put(&old, 0, 5.0).plus(&old).unwrap();
        drop(old);
        assert_eq!(numbers(&both), rows(&[6.0]), "round {round}");
        // A buffer.
        let old = world.put(&world.zeros(COLUMNS), 0, 1.0);
        let (buffer, begin) = old.buffer(None).unwrap();
        let new = world.put(&old, 0, 6.0);
        drop(old);
        assert_eq!(numbers(&new), rows(&[6.0]), "round {round}");
        let there = Array::from_buffer(&buffer, begin, Dtype::F32, &[ROWS, COLUMNS]).unwrap();
        assert_eq!(numbers(&there), expected, "round {round}");
        let new = world.put(&there, 2, 7.0);
        drop(there);
        assert_eq!(numbers(&new), rows(&[1.0, 0.0, 7.0]), "round {round}");
        let there = Array::from_buffer(&buffer, begin, Dtype::F32, &[ROWS, COLUMNS]).unwrap();
        assert_eq!(numbers(&there), expected, "round {round}");
    }
    world.end();
}

/// Slices at fixed places, and elements at indices; what is joined with what was there is not done in place, as it would
/// not be the same if it were done twice.
#[test]
fn other_replacements() {
    let world = World::new();
    use_plans(true);
    for round in 0..4 {
        let number = round as f32 + 1.0;
        let update = world.array(&[number; COLUMNS], Dtype::F32, &[1, COLUMNS]);
        let row = |reduce, row: i64, x: &Array| {
            let slice = (&[row, 0][..], &[row + 1, COLUMNS as i64][..], &[1, 1][..]);
            x.slice_update(&update, slice, reduce).unwrap()
        };
        let mut x = world.zeros(COLUMNS);
        for (place, reduce) in [
            (0, ScatterReduce::None),
            (1, ScatterReduce::Sum),
            (0, ScatterReduce::Sum),
        ] {
            x = row(reduce, place, &x);
            eval(std::slice::from_ref(&x)).unwrap();
        }
        assert_eq!(numbers(&x), rows(&[2.0 * number, number]));
        // Backwards: a start behind the last place is the last one.
        let start = world.array(&[99_i64], Dtype::I64, &[1]);
        x = x.dynamic_slice_update(&update, &start, &[0]).unwrap();
        let mut expected = rows(&[2.0 * number, number]);
        expected[(ROWS - 1) * COLUMNS..].fill(number);
        assert_eq!(numbers(&x), expected);
    }
    world.end();
}

/// Memory runs out behind a replacement: the same arrays are computed again with the same result.
#[test]
fn a_replacement_before_an_error_is_done_again() {
    if gpu::is_real() {
        return;
    }
    let world = World::new();
    use_plans(true);
    let limit = world.device.memory().unwrap().limit;
    let mut cache = world.zeros(COLUMNS);
    for row in 0..6 {
        let new = world.put(&cache, row, row as f32);
        drop(std::mem::replace(&mut cache, new));
        let ones = Array::ones(Shape::new([1, 1 << 20]), Dtype::F32).unwrap();
        let wide = cache.reduce(Reduce::Sum, None, false).unwrap();
        let wide = ones.at(&world.home).times(&wide).unwrap();
        let active = world.device.memory().unwrap().active;
        world.device.set_memory_limit(active + (1 << 20)).unwrap();
        let failed = eval(std::slice::from_ref(&wide));
        assert!(
            matches!(failed, Err(mlxrocm::Error::OutOfMemory(_))),
            "{failed:?}"
        );
        world.device.set_memory_limit(limit).unwrap();
        let sum: f32 = (0..=row).map(|row| row as f32 * COLUMNS as f32).sum();
        assert!(numbers(&wide).iter().all(|&x| x == sum), "row {row}");
        let of: Vec<f32> = (0..=row).map(|row| row as f32).collect();
        assert_eq!(numbers(&cache), rows(&of));
    }
    drop(cache);
    world.end();
}

/// Work that is queued later, and never ends here, does not delay who reads what is done.
#[test]
fn what_is_done_is_read_whatever_is_queued_behind() {
    if gpu::is_real() {
        return;
    }
    let world = World::new();
    use_plans(true);
    let x = world.array(&[1.5f32, 2.5], Dtype::F32, &[2]);
    let done = x.plus(&x).unwrap();
    queue(std::slice::from_ref(&done)).unwrap();
    assert_eq!(numbers(&done), [3.0, 5.0]);
    world.gpu.fault("hang");
    let never = done.plus(&x).unwrap();
    queue(std::slice::from_ref(&never)).unwrap();
    assert_eq!(numbers(&done), [3.0, 5.0]);
    drop((x, done, never));
    let World { device, home, gpu } = world;
    drop((device, home));
    gpu.reset();
}
