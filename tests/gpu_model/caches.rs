//! Quantized caches.

use crate::on_gpu::{device, load};
use crate::{check_report, distance, gpu, logits, random_model, widest_heads};
use mlxrocm::model::{DeviceChoice, KvType, Model, Slice, Wanted};

/// Logits of one more token of each of four sequences, after prompts of these lengths, twice: together or
/// each alone.
fn next_logits(model: &Model, kv: KvType, together: bool) -> Vec<f32> {
    const PROMPTS: [usize; 4] = [5, 17, 33, 20];
    let token = |sequence: usize, i: usize| (i * 77 + sequence * 31 + 13) as u32 % 316;
    let pages = |sequence: usize| [2 * sequence as u32 + 1, 2 * sequence as u32];
    let mut forward = model.new_forward(8, 40, kv).unwrap();
    let mut run = |of: &[(usize, usize, usize)], wanted| {
        let tokens = |&(sequence, from, to): &(usize, usize, usize)| {
            (from..to).map(|i| token(sequence, i)).collect::<Vec<_>>()
        };
        let (tokens, pages): (Vec<_>, Vec<_>) = of.iter().map(|s| (tokens(s), pages(s.0))).unzip();
        let slices: Vec<Slice> = (0..of.len())
            .map(|i| Slice {
                tokens: &tokens[i],
                start: of[i].1,
                pages: &pages[i],
                wanted,
                slot: 0,
            })
            .collect();
        let mut logits = Vec::new();
        forward.forward(&slices, &mut logits).unwrap();
        logits
    };
    let mut all = Vec::new();
    for (sequence, length) in PROMPTS.into_iter().enumerate() {
        run(&[(sequence, 0, length)], Wanted::Nothing);
    }
    for step in 0..2 {
        let at = |s: usize| (s, PROMPTS[s] + step, PROMPTS[s] + step + 1);
        match together {
            true => all.extend(run(&[0, 1, 2, 3].map(at), Wanted::Last)),
            false => (0..4).for_each(|s| all.extend(run(&[at(s)], Wanted::Last))),
        }
    }
    all
}

#[test]
fn quantized_caches_give_what_the_cpu_gives() {
    let folder = tempfile::tempdir().unwrap();
    let tokens: Vec<u32> = (0..43u32).map(|i| (i * 77 + 13) % 316).collect();
    let names = [
        "llama-q4_1.gguf",
        "qwen3-mlx-wide-heads",
        "mistral-mlx-window",
        "qwen3-widest-heads.gguf",
    ];
    let mut specs = random_model::all();
    specs.push(widest_heads());
    let paths = names.map(|name| {
        let spec = specs.iter().find(|spec| spec.name == name).expect(name);
        spec.write(folder.path())
    });
    let run = |model: &Model, kv| {
        let mut forward = model.new_forward(2, 48, kv).unwrap();
        logits(&mut *forward, &tokens, &[37, 5]).unwrap()
    };
    let targets = gpu::among(&["gfx942", "gfx1030", "gfx1151", "gfx1201"]);
    for (place, path) in paths.iter().enumerate() {
        let target = targets[place % targets.len()];
        let gpu = device(target);
        let cpu = load(path, DeviceChoice::Cpu);
        let model = load(path, DeviceChoice::Gpu(0));
        let plain = run(&cpu, KvType::F16);
        for kv in [KvType::Q8, KvType::Q4] {
            let what = format!("{} with {kv:?} on {target}", names[place]);
            let expected = run(&cpu, kv);
            // The GPU's keys and values differ by the rounding of f16, and some of them fall to another
            // code: that is a part of what quantizing them changes at all.
            let off = distance(&run(&model, kv), &expected);
            let effect = distance(&expected, &plain);
            assert!(off < 0.6 * effect, "{what}: {off}, quantizing: {effect}");
            let together = next_logits(&model, kv, true);
            assert!(together == next_logits(&model, kv, false), "{what}");
            check_report(&gpu, &what);
        }
    }
}
