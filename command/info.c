/* mlxrocm info MODEL: what is in a model. */
#include "command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A token as "2 <|im_end|>", owned; NULL after an error, which is said. */
static char *token_text(const mlxrocm_tokenizer *tokenizer, uint32_t token) {
    enum { NUMBER = 16 };
    mlxrocm_error *error = NULL;
    size_t needed = 0;
    if (mlxrocm_tokenizer_token_bytes(tokenizer, token, NULL, 0, &needed, &error) != MLXROCM_OK) {
        fail_with(error);
        return NULL;
    }
    char *made = must_allocate(NULL, needed + NUMBER, 1);
    const int length = snprintf(made, NUMBER, "%" PRIu32 " ", token);
    if (mlxrocm_tokenizer_token_bytes(tokenizer, token, made + length, needed, &needed, &error) == MLXROCM_OK)
        return made;
    fail_with(error);
    free(made);
    return NULL;
}

/* The chat template's source, owned. */
static char *template_source(const mlxrocm_model *model) {
    mlxrocm_error *error = NULL;
    mlxrocm_chat_template *chat_template = NULL;
    size_t needed = 0;
    char *source = NULL;
    if (mlxrocm_model_get_chat_template(model, &chat_template, &error) == MLXROCM_OK &&
        mlxrocm_chat_template_source(chat_template, NULL, 0, &needed, &error) == MLXROCM_OK) {
        source = must_allocate(NULL, needed, 1);
        mlxrocm_chat_template_source(chat_template, source, needed, &needed, &error);
    }
    mlxrocm_chat_template_free(chat_template);
    if (error == NULL) return source;
    fail_with(error);
    free(source);
    return NULL;
}

static void report_token(struct report *report, const char *key, const char *label,
                         const mlxrocm_tokenizer *tokenizer, uint32_t token) {
    if (token == MLXROCM_NO_TOKEN) {
        if (!report->json) report_text(report, key, label, "none");
        return;
    }
    char *spelled = token_text(tokenizer, token);
    report_count(report, key, label, token, spelled);
    free(spelled);
}

static int print_info(const struct settings *settings, const mlxrocm_model *model) {
    mlxrocm_error *error = NULL;
    mlxrocm_tokenizer *tokenizer = NULL;
    mlxrocm_model_info info = {.struct_size = sizeof info};
    mlxrocm_tokenizer_info words = {.struct_size = sizeof words};
    const int has_template = has_chat_template(model);
    if (has_template < 0) return EXIT_FAILED;
    if (mlxrocm_model_get_info(model, &info, &error) != MLXROCM_OK ||
        mlxrocm_model_get_tokenizer(model, &tokenizer, &error) != MLXROCM_OK ||
        mlxrocm_tokenizer_get_info(tokenizer, &words, &error) != MLXROCM_OK) {
        mlxrocm_tokenizer_free(tokenizer);
        return fail_with(error);
    }
    struct report report;
    char line[128];
    report_begin(&report, settings->json);
    report_text(&report, "name", "name", info.name);
    report_text(&report, "family", "family", info.family);
    report_text(&report, "quantization", "weights", info.quantization);
    report_count(&report, "parameters", "parameters", info.parameters, readable_number(info.parameters));
    report_count(&report, "weight_bytes", "size", info.weight_bytes, readable_bytes(info.weight_bytes));
    const double bits = info.parameters > 0 ? 8.0 * (double)info.weight_bytes / (double)info.parameters : 0;
    snprintf(line, sizeof line, "%.2f", bits);
    report_real(&report, "bits_per_weight", "bits a weight", bits, line);
    report_count(&report, "layers", "layers", info.layers, NULL);
    report_count(&report, "hidden_size", "hidden size", info.hidden_size, NULL);
    snprintf(line, sizeof line, "%" PRIu64 " tokens", info.context_length);
    report_count(&report, "context_length", "context", info.context_length, line);
    const double full = (double)info.kv_bytes_per_token * (double)info.context_length;
    snprintf(line, sizeof line, "%s a token, %s for the whole context (f16)", readable_bytes(info.kv_bytes_per_token),
             full < 1e18 ? readable_bytes((uint64_t)full) : "too much");
    report_count(&report, "kv_bytes_per_token", "KV cache", info.kv_bytes_per_token, line);
    report_count(&report, "embedding_rows", "embedding rows", info.vocab_size, NULL);
    report_count(&report, "vocab_size", "vocabulary", words.vocab_size, NULL);
    report_token(&report, "bos", "begin of text", tokenizer, words.bos);
    report_token(&report, "eos", "end of text", tokenizer, words.eos);
    report_flag(&report, "chat_template", "chat template", has_template == 1);
    mlxrocm_tokenizer_free(tokenizer);
    return report_end(&report);
}

static int print_template(const mlxrocm_model *model) {
    char *source = template_source(model);
    if (source == NULL) return EXIT_FAILED;
    const bool written = write_text(stdout, source, strlen(source)) && putchar('\n') != EOF && fflush(stdout) == 0;
    free(source);
    return written ? 0 : fail_to_write();
}

static int run(const struct settings *settings, char **operands, size_t count) {
    (void)count;
    mlxrocm_error *error = NULL;
    mlxrocm_device *cpu = NULL;
    mlxrocm_model *model = NULL;
    int result = EXIT_FAILED;
    if (settings->tensors && settings->chat_template) {
        fail("info: --tensors and --template exclude each other");
        return EXIT_USAGE;
    }
    if (settings->tensors) return print_tensors(operands[0], settings->json);
    catch_interrupts(1);
    /* Weights stay mapped on the CPU: a model larger than a GPU's memory can be looked at. */
    if (mlxrocm_device_open(0, &cpu, &error) != MLXROCM_OK) return fail_with(error);
    if (load_model(settings, cpu, operands[0], &model))
        result = settings->chat_template ? print_template(model) : print_info(settings, model);
    mlxrocm_model_free(model);
    mlxrocm_device_free(cpu);
    return result;
}

static const struct option_group *const groups[] = {&info_options, &json_options, &output_options, NULL};

const struct subcommand info_command = {
    "info", "MODEL", "says what is in a model", 1, 1, groups, NULL, run,
};
