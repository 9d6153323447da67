//! A small llama of f32 weights as a GGUF file, and its forward pass in plain f64, written from the
//! formulas and sharing nothing with the library.
#![allow(dead_code)] // each test binary uses a part

#[path = "gguf_writer.rs"]
pub mod gguf_writer;
#[path = "prng.rs"]
pub mod prng;
#[path = "tiny_tokenizer.rs"]
pub mod tiny_tokenizer;

use gguf_writer::GgufWriter;
use half::f16;
use mlxrocm::model::KvType;
use prng::Prng;
use std::path::{Path, PathBuf};

pub const VOCABULARY: usize = 320;
const HIDDEN: usize = 64;
const MLP: usize = 96;
const LAYERS: usize = 2;
const HEADS: usize = 4;
const KV_HEADS: usize = 2;
const EPS: f64 = 1e-5;

/// Columns that share a scale in a quantized KV cache.
const GROUP: usize = 32;

/// `[rows][cols]`.
struct Matrix {
    cols: usize,
    values: Vec<f32>,
}

impl Matrix {
    fn random(prng: &mut Prng, rows: usize, cols: usize, std: f64) -> Matrix {
        let values = (0..rows * cols).map(|_| (prng.normal() * std) as f32);
        Matrix {
            cols,
            values: values.collect(),
        }
    }

    fn times(&self, x: &[f64]) -> Vec<f64> {
        let rows = self.values.chunks(self.cols);
        rows.map(|row| row.iter().zip(x).map(|(w, x)| f64::from(*w) * x).sum())
            .collect()
    }
}

struct Layer {
    norms: [Matrix; 2],
    q: Matrix,
    k: Matrix,
    v: Matrix,
    o: Matrix,
    gate: Matrix,
    up: Matrix,
    down: Matrix,
}

/// The model.
pub struct PlainLlama {
    pub head_dim: usize,
    rope_dims: usize,
    embedding: Matrix,
    norm: Matrix,
    layers: Vec<Layer>,
}

fn rms_norm(x: &[f64], weight: &Matrix) -> Vec<f64> {
    let mean = x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
    let scale = 1.0 / (mean + EPS).sqrt();
    let weights = weight.values.iter();
    x.iter()
        .zip(weights)
        .map(|(x, w)| x * scale * f64::from(*w))
        .collect()
}

/// A head's key or value as a cache of this kind gives it back.
fn kept(kv: KvType, x: &[f64]) -> Vec<f64> {
    let half = |x: f64| f16::from_f32(x as f32).to_f64();
    let group = |x: &[f64]| -> Vec<f64> {
        let largest = x.iter().copied().fold(f64::MIN, f64::max);
        let smallest = x.iter().copied().fold(f64::MAX, f64::min);
        let (least, scale, from, to) = match kv {
            KvType::F16 => return x.iter().map(|x| half(*x)).collect(),
            KvType::Q8 => (0.0, half(largest.max(-smallest) / 127.0), -127.0, 127.0),
            KvType::Q4 => {
                let least = half(smallest);
                (least, half((largest - least) / 15.0), 0.0, 15.0)
            }
        };
        let code = |x: &f64| match scale {
            0.0 => 0.0,
            scale => ((x - least) / scale).round_ties_even().clamp(from, to),
        };
        x.iter().map(|x| code(x) * scale + least).collect()
    };
    x.chunks(GROUP).flat_map(group).collect()
}

impl PlainLlama {
    /// Heads of `head_dim`, of which the first `rope_dims` are rotated.
    pub fn new(head_dim: usize, rope_dims: usize) -> PlainLlama {
        let mut prng = Prng::new(head_dim as u64);
        let (q, kv) = (HEADS * head_dim, KV_HEADS * head_dim);
        let mut matrix = |rows: usize, cols: usize, std: f64| {
            Matrix::random(&mut prng, rows, cols, std / (cols as f64).sqrt())
        };
        let embedding = matrix(VOCABULARY, HIDDEN, 2.0);
        let layers = (0..LAYERS)
            .map(|_| Layer {
                norms: [matrix(1, HIDDEN, 8.0), matrix(1, HIDDEN, 8.0)],
                q: matrix(q, HIDDEN, 1.5),
                k: matrix(kv, HIDDEN, 1.5),
                v: matrix(kv, HIDDEN, 1.0),
                o: matrix(HIDDEN, q, 1.0),
                gate: matrix(MLP, HIDDEN, 1.0),
                up: matrix(MLP, HIDDEN, 1.0),
                down: matrix(HIDDEN, MLP, 1.0),
            })
            .collect();
        PlainLlama {
            head_dim,
            rope_dims,
            embedding,
            norm: matrix(1, HIDDEN, 8.0),
            layers,
        }
    }

    /// Writes the file and returns its path.
    pub fn write(&self, folder: &Path) -> PathBuf {
        self.write_with(folder, |_| {})
    }

    /// The same with more metadata or tensors.
    pub fn write_with(&self, folder: &Path, change: impl FnOnce(&mut GgufWriter)) -> PathBuf {
        let mut writer = GgufWriter::new(3);
        writer
            .text("general.architecture", "llama")
            .u32("llama.context_length", 256)
            .u32("llama.embedding_length", HIDDEN as u32)
            .u32("llama.block_count", LAYERS as u32)
            .u32("llama.feed_forward_length", MLP as u32)
            .u32("llama.attention.head_count", HEADS as u32)
            .u32("llama.attention.head_count_kv", KV_HEADS as u32)
            .u32("llama.attention.key_length", self.head_dim as u32)
            .u32("llama.attention.value_length", self.head_dim as u32)
            .u32("llama.rope.dimension_count", self.rope_dims as u32)
            .f32("llama.attention.layer_norm_rms_epsilon", EPS as f32);
        tiny_tokenizer::write_gguf(&mut writer);
        let mut add = |name: String, matrix: &Matrix| {
            let data = matrix.values.iter().flat_map(|v| v.to_le_bytes()).collect();
            let rows = matrix.values.len() / matrix.cols;
            let dims = [matrix.cols as u64, rows as u64];
            let dims = if name.contains("norm") {
                &dims[..1]
            } else {
                &dims
            };
            writer.tensor(&format!("{name}.weight"), dims, 0, data);
        };
        add("token_embd".into(), &self.embedding);
        add("output_norm".into(), &self.norm);
        for (i, layer) in self.layers.iter().enumerate() {
            add(format!("blk.{i}.attn_norm"), &layer.norms[0]);
            add(format!("blk.{i}.ffn_norm"), &layer.norms[1]);
            add(format!("blk.{i}.attn_q"), &layer.q);
            add(format!("blk.{i}.attn_k"), &layer.k);
            add(format!("blk.{i}.attn_v"), &layer.v);
            add(format!("blk.{i}.attn_output"), &layer.o);
            add(format!("blk.{i}.ffn_gate"), &layer.gate);
            add(format!("blk.{i}.ffn_up"), &layer.up);
            add(format!("blk.{i}.ffn_down"), &layer.down);
        }
        change(&mut writer);
        let path = folder.join("plain.gguf");
        std::fs::write(&path, writer.bytes()).unwrap();
        path
    }

    /// Pairs (2i, 2i+1) of a head turned by the angles of a position, as llama's GGUF files have them.
    fn rotate(&self, position: usize, head: &mut [f64]) {
        for (i, pair) in head[..self.rope_dims].chunks_exact_mut(2).enumerate() {
            let frequency = 10_000f64.powf(-2.0 * i as f64 / self.rope_dims as f64);
            let (sin, cos) = (position as f64 * frequency).sin_cos();
            (pair[0], pair[1]) = (pair[0] * cos - pair[1] * sin, pair[0] * sin + pair[1] * cos);
        }
    }

    /// The logits after each token.
    pub fn logits(&self, tokens: &[u32], kv: KvType) -> Vec<Vec<f64>> {
        let dim = self.head_dim;
        let row = |token: u32| -> Vec<f64> {
            let at = token as usize * HIDDEN;
            let row = &self.embedding.values[at..at + HIDDEN];
            row.iter().map(|v| f64::from(*v)).collect()
        };
        let mut x: Vec<Vec<f64>> = tokens.iter().map(|t| row(*t)).collect();
        for layer in &self.layers {
            let (mut keys, mut values) = (Vec::new(), Vec::new());
            for (position, x) in x.iter_mut().enumerate() {
                let h = rms_norm(x, &layer.norms[0]);
                let (mut q, mut k, v) = (layer.q.times(&h), layer.k.times(&h), layer.v.times(&h));
                for head in q.chunks_mut(dim).chain(k.chunks_mut(dim)) {
                    self.rotate(position, head);
                }
                keys.push(k.chunks(dim).flat_map(|k| kept(kv, k)).collect::<Vec<_>>());
                values.push(v.chunks(dim).flat_map(|v| kept(kv, v)).collect::<Vec<_>>());
                let mut out = vec![0.0; HEADS * dim];
                for (head, out) in out.chunks_mut(dim).enumerate() {
                    let q = &q[head * dim..][..dim];
                    let at = head / (HEADS / KV_HEADS) * dim;
                    let scores = keys.iter().map(|k| {
                        let k = &k[at..at + dim];
                        let dot: f64 = q.iter().zip(k).map(|(q, k)| q * k).sum();
                        (dot / (dim as f64).sqrt()).exp()
                    });
                    let scores: Vec<f64> = scores.collect();
                    let sum: f64 = scores.iter().sum();
                    for (score, v) in scores.iter().zip(&values) {
                        for (out, v) in out.iter_mut().zip(&v[at..at + dim]) {
                            *out += score / sum * v;
                        }
                    }
                }
                let add = layer.o.times(&out);
                x.iter_mut().zip(add).for_each(|(x, a)| *x += a);
                let h = rms_norm(x, &layer.norms[1]);
                let (gate, up) = (layer.gate.times(&h), layer.up.times(&h));
                let silu = gate.iter().map(|g| g / (1.0 + (-g).exp()));
                let m: Vec<f64> = silu.zip(up).map(|(g, u)| g * u).collect();
                let add = layer.down.times(&m);
                x.iter_mut().zip(add).for_each(|(x, a)| *x += a);
            }
        }
        let rows = x.iter().map(|x| rms_norm(x, &self.norm));
        rows.map(|h| self.embedding.times(&h)).collect()
    }
}
