//! How each kind of byte-level BPE cuts text into words before merging.
//!
//! The kinds are the values of `tokenizer.ggml.pre` in GGUF files. The patterns are those the
//! models' authors published in their `tokenizer.json`; where a kind stands for several models the
//! one with the most of them is meant.

use super::normalizer::Normalizer;
use super::words::Step;
use tokenizers::NormalizerWrapper;
use tokenizers::normalizers::NFC;

/// What a kind of byte-level BPE does besides merging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// Whether text is put into Unicode form C first.
    nfc: bool,
    /// Patterns applied one after the other; a match and the text between matches are words.
    splits: &'static [&'static str],
    /// Whether a word that is itself a token is taken without merging.
    pub(super) ignore_merges: bool,
    /// Whether a raw prompt begins with BOS where the file does not say.
    pub(super) add_bos: bool,
}

const fn kind(splits: &'static [&'static str]) -> Kind {
    Kind {
        nfc: false,
        splits,
        ignore_merges: false,
        add_bos: false,
    }
}

impl Kind {
    const fn nfc(mut self) -> Kind {
        self.nfc = true;
        self
    }
    const fn ignore_merges(mut self) -> Kind {
        self.ignore_merges = true;
        self
    }
    const fn add_bos(mut self) -> Kind {
        self.add_bos = true;
        self
    }
}

pub(super) const GPT2: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const DIGIT: &str = r"\p{N}";
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN35: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const UFAKZEKA: &str =
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const MINICPM5: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const JAIS2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const GPT4O: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const THOUSANDS: &str = r"\d{1,3}(?=(?:\d{3})*\b)";
const BAILING: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+";
const SEED_CODER: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+";
const EXAONE_MOE: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+";
const BLOOM: &str = r" ?[^(\s|.,!?…。，、।۔،)]+";
const CJK_IDEOGRAPHS: &str = r"[一-龥ࠀ-一가-퟿]+";
const DEEPSEEK_LLM_WORDS: &str = r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⲳⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+";
const DEEPSEEK_LLM_MARKS: &str = r"\s?[!-/:-~！-／：-～‘-‟　-。]+";
const DEEPSEEK_V3_CJK: &str = r"[一-龥぀-ゟ゠-ヿ]+";
const DEEPSEEK_V3: &str = r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##;

/// The kind used where a file names none: the one that GGUF files without `pre` were made for.
pub(super) const DEFAULT: Kind =
    kind(&[r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", r"[0-9][0-9][0-9]"]);

/// The kind named `pre`; `None` where it is unknown, an error text where it is known but another
/// algorithm than byte-level BPE.
pub(super) fn find(pre: &str) -> Option<Result<Kind, &'static str>> {
    let kind = match pre {
        "default" => DEFAULT,
        "gpt-2" | "phi-2" | "jina-es" | "jina-de" | "gigachat" | "jina-v2-es" | "jina-v2-de"
        | "a.x-4.0" | "mellum" | "modern-bert" | "jina-v1-en" | "jina-v2-code" | "roberta-bpe"
        | "jais" | "trillion" | "granite-docling" | "exaone4" => kind(&[GPT2]),
        "mpt" | "olmo" => kind(&[GPT2]).nfc(),
        "llama3" | "llama-v3" | "llama-bpe" | "falcon3" | "falcon-h1" | "pixtral" | "midm-2.0"
        | "lfm2" | "jina-v5-nano" => kind(&[LLAMA3]).ignore_merges().add_bos(),
        "dbrx" | "smaug-bpe" | "chatglm-bpe" => kind(&[LLAMA3]),
        "glm4" | "glm5" => kind(&[LLAMA3]).ignore_merges(),
        "minicpm5" => kind(&[r"\p{N}{1,3}", MINICPM5]).ignore_merges(),
        "jais-2" => kind(&[JAIS2]),
        "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" | "exaone" | "minerva-7b"
        | "mellum2" => kind(&[DIGIT, GPT2]),
        "qwen2" | "deepseek-r1-qwen" | "kormo" | "f2llmv2" | "megrez" => kind(&[QWEN2]).nfc(),
        "qwen35" => kind(&[QWEN35]).nfc(),
        "stablelm2" | "hunyuan" | "grok-2" | "solar-open" => kind(&[QWEN2]),
        "laguna" => kind(&[r"[^\n]+|[\n]+", QWEN2]),
        "ufakzeka" => kind(&[UFAKZEKA]),
        "deepseek-llm" => kind(&[
            r"[\r\n]",
            DEEPSEEK_LLM_WORDS,
            DEEPSEEK_LLM_MARKS,
            r"\s+$",
            CJK_IDEOGRAPHS,
            r"\p{N}+",
        ]),
        "deepseek-coder" => kind(&[r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CJK_IDEOGRAPHS, DIGIT]),
        "deepseek-v3" | "hunyuan-dense" | "joyai-llm" | "hy_v4" => {
            kind(&[r"\p{N}{1,3}", DEEPSEEK_V3_CJK, DEEPSEEK_V3])
        }
        "falcon" => kind(&[r"[\p{P}\$\+<=>\^~\|`]+", GPT2, r"[0-9][0-9][0-9]"]),
        "tekken" => kind(&[TEKKEN]).ignore_merges(),
        "gpt-4o" | "llama4" | "kanana2" | "talkie" | "minimax-m2" => kind(&[GPT4O]),
        "granite-embed-multi-97m" => kind(&[GPT4O]).ignore_merges(),
        "tiny_aya" | "cohere2moe" => kind(&[THOUSANDS, GPT4O]),
        "bailingmoe" | "bailingmoe2" | "llada-moe" => kind(&[BAILING]),
        "seed-coder" => kind(&[SEED_CODER]),
        "exaone-moe" => kind(&[EXAONE_MOE]),
        "bloom" | "gpt3-finnish" | "poro-chat" => kind(&[BLOOM]),
        "viking" => kind(&[BLOOM, DIGIT]),
        "gemma4" | "granite-embed-multi-311m" | "sarvam-moe" => {
            return Some(Err("BPE over whole text instead of bytes"));
        }
        "kimi-k2" | "afmoe" | "superbpe" | "chameleon" | "youtu" | "spark2_5" | "whitespace" => {
            return Some(Err("an own way to cut words"));
        }
        _ => return None,
    };
    Some(Ok(kind))
}

impl Kind {
    /// Whether text is put into Unicode form C first.
    pub(super) fn is_nfc(&self) -> bool {
        self.nfc
    }

    /// The patterns of the splits.
    pub(super) fn splits(&self) -> &'static [&'static str] {
        self.splits
    }

    /// The normalizer, where the kind has one.
    pub(super) fn normalizer(&self) -> Normalizer {
        match self.nfc {
            true => Normalizer::new(NormalizerWrapper::NFC(NFC)),
            false => Normalizer::default(),
        }
    }

    /// The splits. The words are then spelled byte by byte.
    pub(super) fn steps(&self) -> Result<Vec<Step>, String> {
        self.splits
            .iter()
            .map(|pattern| Step::split(pattern))
            .collect()
    }
}
