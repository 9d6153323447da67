//! The binary interface: what the shared library is called, exports and needs.

#[path = "support/cc.rs"]
mod cc;

use cc::{command, library, library_folder, root, stdout, succeed};
use std::collections::BTreeSet;

fn tool(program: &str, arguments: &[&str]) -> String {
    let library = library();
    let mut command = command(program, arguments);
    stdout(&succeed(command.env("LC_ALL", "C").arg(library)))
}

/// Functions that the header declares.
fn declared() -> BTreeSet<String> {
    let header = std::fs::read_to_string(root().join("include/mlxrocm.h")).unwrap();
    let code: String = header
        .split("/*")
        .map(|part| part.rsplit("*/").next().unwrap())
        .collect();
    code.match_indices("mlxrocm_")
        .filter_map(|(at, _)| {
            let name: String = code[at..]
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect();
            code[at + name.len()..].starts_with('(').then_some(name)
        })
        .collect()
}

#[test]
fn exactly_the_declared_functions_are_exported_each_with_a_version() {
    let mut exported = BTreeSet::new();
    for line in tool("nm", &["-D", "--defined-only", "--with-symbol-versions"]).lines() {
        let symbol = line.split_whitespace().nth(2).unwrap_or_default();
        let kind = line.split_whitespace().nth(1).unwrap_or_default();
        if kind == "A" && symbol.starts_with("MLXROCM_") {
            continue; // the version node itself
        }
        let (name, node) = symbol.split_once("@@").unwrap_or((symbol, ""));
        assert_eq!((kind, node), ("T", "MLXROCM_0.1"), "{line}");
        exported.insert(name.to_string());
    }
    let declared = declared();
    assert!(
        declared.contains("mlxrocm_version") && declared.len() >= 92,
        "{declared:?}"
    );
    assert_eq!(exported, declared);
}

#[test]
fn the_name_and_the_needed_libraries_are_right() {
    let dynamic = tool("readelf", &["-dW"]);
    let named = |tag: &str| -> Vec<String> {
        dynamic
            .lines()
            .filter(|line| line.contains(&format!("({tag})")))
            .filter_map(|line| line.split(['[', ']']).nth(1))
            .map(str::to_string)
            .collect()
    };
    assert_eq!(named("SONAME"), ["libmlxrocm.so.0"]);
    let needed = named("NEEDED");
    assert!(needed.iter().any(|name| name == "libc.so.6"), "{needed:?}");
    for name in &needed {
        let allowed = ["libc.so.6", "libm.so.6", "libgcc_s.so.1"].contains(&name.as_str())
            || name.starts_with("ld-linux");
        assert!(allowed, "the library needs {name}");
    }
    assert!(
        named("RPATH").is_empty() && named("RUNPATH").is_empty(),
        "{dynamic}"
    );
    // Code that needs relocations in place cannot be shared between processes.
    assert!(!dynamic.contains("TEXTREL"), "{dynamic}");
    let segments = tool("readelf", &["-lW"]);
    let stack = segments
        .lines()
        .find(|line| line.contains("GNU_STACK"))
        .unwrap_or_default();
    assert!(!stack.contains("RWE"), "the stack is executable: {stack}");
}

#[test]
fn a_program_can_open_the_library_at_run_time_with_all_symbols_bound() {
    let program = cc::compile(
        "gcc",
        "tests/c/api_dlopen.c",
        &["-std=c11", "-ldl"],
        "api_dlopen",
    );
    let path = library_folder().join("libmlxrocm.so.0");
    succeed(&mut command(program, &[path.to_str().unwrap()]));
}

#[test]
fn structs_have_no_padding_and_the_same_layout_in_c() {
    // Padding bytes would be indeterminate in a caller's struct, and a struct whose size is no
    // multiple of 8 would grow into its own padding.
    let program = cc::compile("gcc", "tests/c/api_layout.c", &["-std=c11"], "api_layout");
    let made = stdout(&succeed(&mut command(program, &[])));
    use mlxrocm::capi::*;
    use std::mem::{offset_of, size_of};
    let mut expected = String::new();
    macro_rules! layout {
        ($($type:ty { $($field:ident)* })*) => {$(
            let name = stringify!($type).rsplit("::").next().unwrap().trim();
            expected += &format!("{name} {}\n", size_of::<$type>());
            let mut end = 0;
            $(
                assert_eq!(offset_of!($type, $field), end, "padding before {name}.{}", stringify!($field));
                end += field_size(|s: &$type| &raw const s.$field);
                expected += &format!("{name}.{} {}\n", stringify!($field), offset_of!($type, $field));
            )*
            assert_eq!(end, size_of::<$type>(), "padding at the end of {name}");
        )*};
    }
    fn field_size<S, F>(_: impl Fn(&S) -> *const F) -> usize {
        size_of::<F>()
    }
    layout! {
        device_info::mlxrocm_device_info {
            struct_size kind name name_length isa isa_length compute_units memory_total memory_free
            target target_length pci_id pci_id_length l2_bytes lds_bytes wave_size max_block_threads integrated clock_khz memory_clock_khz
            memory_bus_bits driver_version
        }
        device_memory::mlxrocm_device_memory {
            struct_size integrated active peak cache limit total free pinned_active pinned_cache
        }
        selftest::mlxrocm_selftest_options {
            struct_size flags seed report user_data user_data_free
        }
        buffer::mlxrocm_buffer_info {
            struct_size kind size address data
        }
        module::mlxrocm_compile_options {
            struct_size flag_count flags flag_lengths name name_length
        }
        kernel::mlxrocm_kernel_info {
            struct_size registers lds_bytes scratch_bytes max_block_threads wave_size name
            name_length
        }
        launch::mlxrocm_arg {
            kind access value buffer size
        }
        launch::mlxrocm_launch {
            struct_size dynamic_lds grid block args arg_count touched touched_count
        }
        program_info::mlxrocm_program_info {
            struct_size mode reason same_bits nodes edges direct_ns graph_ns
        }
        model::mlxrocm_model_options {
            struct_size threads progress user_data user_data_free device gpu_weight_bytes
        }
        model::mlxrocm_model_info {
            struct_size layers family family_length name name_length quantization quantization_length
            parameters weight_bytes context_length vocab_size hidden_size kv_bytes_per_token load_seconds
            gpu_weight_bytes host_weight_bytes
        }
        model_file::mlxrocm_tensor_info {
            struct_size rank name name_length format format_length shape bytes
        }
        quantize::mlxrocm_quantize_options {
            struct_size bits group_size threads mode mode_length recipe recipe_length dtype dtype_length
            rules rules_lengths rules_count progress user_data user_data_free
        }
        quantize::mlxrocm_quantize_result { struct_size files parameters bytes resumed_bytes }
        tokenizer::mlxrocm_tokenizer_info { struct_size vocab_size bos eos }
        chat_template::mlxrocm_message { role role_length content content_length }
        session::mlxrocm_session_options {
            struct_size context max_requests prefill_chunk kv_tokens kv_type batch_invariant prompt_lookup
            draft_model
        }
        session::mlxrocm_session_info {
            struct_size context running waiting kv_tokens kv_used kv_cached kv_bytes
        }
        request::mlxrocm_request {
            struct_size flags tokens token_count text text_length messages message_count stop stop_lengths
            stop_count stop_tokens stop_token_count bias_tokens bias_values bias_count seed max_tokens temperature
            top_k top_p min_p repetition_penalty presence_penalty frequency_penalty penalty_window
            logprobs logits_processor user_data user_data_free chat_json chat_json_length
            json_schema json_schema_length regex regex_length grammar grammar_length
        }
        evaluate::mlxrocm_embed_options { struct_size pooling positions position_count flags }
        event::mlxrocm_token_logprob { token logprob }
        event::mlxrocm_event {
            struct_size kind text text_length token logprob top top_count prompt_done prompt_total
            finish_reason error_status error_message error_message_length prompt_tokens
            cached_tokens generated_tokens prompt_seconds decode_seconds
            guessed_tokens accepted_tokens
        }
        chess_net::mlxrocm_chess_move { policy_index name_length name }
    }
    assert_eq!(made, expected);
}
