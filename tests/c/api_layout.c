/* Prints the layout of every public struct as the C compiler sees it. */
#include <mlxrocm.h>
#include <stdio.h>

#define TYPE(type) printf(#type " %zu\n", sizeof(type))
#define FIELD(type, field) printf(#type "." #field " %zu\n", offsetof(type, field))

int main(void) {
    TYPE(mlxrocm_device_info);
    FIELD(mlxrocm_device_info, struct_size);
    FIELD(mlxrocm_device_info, kind);
    FIELD(mlxrocm_device_info, name);
    FIELD(mlxrocm_device_info, isa);
    FIELD(mlxrocm_device_info, compute_units);
    FIELD(mlxrocm_device_info, memory_total);
    FIELD(mlxrocm_device_info, memory_free);
    TYPE(mlxrocm_model_options);
    FIELD(mlxrocm_model_options, struct_size);
    FIELD(mlxrocm_model_options, threads);
    FIELD(mlxrocm_model_options, progress);
    FIELD(mlxrocm_model_options, user_data);
    FIELD(mlxrocm_model_options, user_data_free);
    TYPE(mlxrocm_model_info);
    FIELD(mlxrocm_model_info, struct_size);
    FIELD(mlxrocm_model_info, layers);
    FIELD(mlxrocm_model_info, family);
    FIELD(mlxrocm_model_info, name);
    FIELD(mlxrocm_model_info, quantization);
    FIELD(mlxrocm_model_info, parameters);
    FIELD(mlxrocm_model_info, weight_bytes);
    FIELD(mlxrocm_model_info, context_length);
    FIELD(mlxrocm_model_info, vocab_size);
    FIELD(mlxrocm_model_info, hidden_size);
    FIELD(mlxrocm_model_info, kv_bytes_per_token);
    FIELD(mlxrocm_model_info, load_seconds);
    TYPE(mlxrocm_tokenizer_info);
    FIELD(mlxrocm_tokenizer_info, struct_size);
    FIELD(mlxrocm_tokenizer_info, vocab_size);
    FIELD(mlxrocm_tokenizer_info, bos);
    FIELD(mlxrocm_tokenizer_info, eos);
    TYPE(mlxrocm_message);
    FIELD(mlxrocm_message, role);
    FIELD(mlxrocm_message, content);
    TYPE(mlxrocm_session_options);
    FIELD(mlxrocm_session_options, struct_size);
    FIELD(mlxrocm_session_options, context);
    FIELD(mlxrocm_session_options, max_requests);
    FIELD(mlxrocm_session_options, prefill_chunk);
    TYPE(mlxrocm_request);
    FIELD(mlxrocm_request, struct_size);
    FIELD(mlxrocm_request, flags);
    FIELD(mlxrocm_request, tokens);
    FIELD(mlxrocm_request, token_count);
    FIELD(mlxrocm_request, text);
    FIELD(mlxrocm_request, messages);
    FIELD(mlxrocm_request, message_count);
    FIELD(mlxrocm_request, stop);
    FIELD(mlxrocm_request, stop_count);
    FIELD(mlxrocm_request, stop_tokens);
    FIELD(mlxrocm_request, stop_token_count);
    FIELD(mlxrocm_request, bias_tokens);
    FIELD(mlxrocm_request, bias_values);
    FIELD(mlxrocm_request, bias_count);
    FIELD(mlxrocm_request, seed);
    FIELD(mlxrocm_request, max_tokens);
    FIELD(mlxrocm_request, temperature);
    FIELD(mlxrocm_request, top_k);
    FIELD(mlxrocm_request, top_p);
    FIELD(mlxrocm_request, min_p);
    FIELD(mlxrocm_request, repetition_penalty);
    FIELD(mlxrocm_request, presence_penalty);
    FIELD(mlxrocm_request, frequency_penalty);
    FIELD(mlxrocm_request, penalty_window);
    FIELD(mlxrocm_request, logprobs);
    TYPE(mlxrocm_token_logprob);
    FIELD(mlxrocm_token_logprob, token);
    FIELD(mlxrocm_token_logprob, logprob);
    TYPE(mlxrocm_event);
    FIELD(mlxrocm_event, struct_size);
    FIELD(mlxrocm_event, kind);
    FIELD(mlxrocm_event, text);
    FIELD(mlxrocm_event, text_length);
    FIELD(mlxrocm_event, token);
    FIELD(mlxrocm_event, logprob);
    FIELD(mlxrocm_event, top);
    FIELD(mlxrocm_event, top_count);
    FIELD(mlxrocm_event, prompt_done);
    FIELD(mlxrocm_event, prompt_total);
    FIELD(mlxrocm_event, finish_reason);
    FIELD(mlxrocm_event, error_status);
    FIELD(mlxrocm_event, error_message);
    FIELD(mlxrocm_event, prompt_tokens);
    FIELD(mlxrocm_event, cached_tokens);
    FIELD(mlxrocm_event, generated_tokens);
    FIELD(mlxrocm_event, prompt_seconds);
    FIELD(mlxrocm_event, decode_seconds);
    return 0;
}
