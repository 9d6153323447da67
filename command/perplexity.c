/* mlxrocm perplexity MODEL FILE: how well a model predicts a text.
 *
 * A window of tokens slides over the text; each token is scored once, in the window where it has the most
 * tokens before it. Where the tokenizer begins texts with a token, every window begins with it. */
#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct score {
    size_t tokens; /* scored */
    double sum, squares; /* of -ln p */
};

/* -ln p of `token` under softmax(logits). */
static double surprise(const float *logits, size_t count, uint32_t token) {
    float most = logits[0];
    double sum = 0;
    for (size_t i = 1; i < count; i++)
        if (logits[i] > most) most = logits[i];
    for (size_t i = 0; i < count; i++) sum += exp((double)logits[i] - (double)most);
    return log(sum) + (double)most - (double)logits[token];
}

struct windows {
    const mlxrocm_session *session;
    size_t vocabulary, window, stride;
    bool has_bos, is_quiet;
};

/* `tokens` begin with BOS if `has_bos`. */
static int score_text(const struct windows *w, const uint32_t *tokens, size_t count, struct score *score) {
    const size_t first = w->has_bos; /* of the text's own tokens */
    const size_t room = w->window - first;
    mlxrocm_error *error = NULL;
    const size_t rows = count < w->window ? count : w->window;
    uint32_t *piece = must_allocate(NULL, rows, sizeof *piece);
    float *logits = must_allocate(NULL, rows, w->vocabulary * sizeof *logits);
    int result = 0;
    /* Without BOS nothing says how probable the first token is. */
    size_t scored = first > 0 ? first : 1;
    for (size_t start = first; scored < count && result == 0; start += w->stride) {
        const size_t end = start + room < count ? start + room : count;
        const size_t length = first + (end - start);
        if (!w->is_quiet) progress("scoring", scored, count);
        piece[0] = tokens[0];
        memcpy(piece + first, tokens + start, (end - start) * sizeof *piece);
        if (mlxrocm_session_logits(w->session, piece, length, logits, rows * w->vocabulary, NULL, &error) !=
            MLXROCM_OK) {
            result = fail_with(error);
            break;
        }
        for (; scored < end; scored++) {
            /* The row before a token is about it. */
            const size_t row = first + (scored - start) - 1;
            const double one = surprise(logits + row * w->vocabulary, w->vocabulary, tokens[scored]);
            score->sum += one;
            score->squares += one * one;
            score->tokens++;
        }
        if (interrupts() > 0) result = EXIT_FAILED;
    }
    progress_end();
    free(logits);
    free(piece);
    return result;
}

static int print_score(const struct settings *settings, const struct windows *w, const struct score *score) {
    const double n = (double)score->tokens, mean = score->sum / n;
    const double variance = n > 1 ? (score->squares - n * mean * mean) / (n - 1) : 0;
    const double perplexity = exp(mean), error = perplexity * sqrt(variance > 0 ? variance / n : 0);
    struct report report;
    char line[128];
    if (!isfinite(mean)) return fail("the model's logits are not finite");
    report_begin(&report, settings->json);
    snprintf(line, sizeof line, "%.4f +/- %.4f", perplexity, error);
    report_real(&report, "perplexity", "perplexity", perplexity, line);
    if (settings->json) report_real(&report, "standard_error", "", error, NULL);
    snprintf(line, sizeof line, "%.4f", mean);
    report_real(&report, "nats_per_token", "nats a token", mean, line);
    report_count(&report, "tokens", "tokens scored", score->tokens, NULL);
    report_count(&report, "window", "window", w->window, NULL);
    report_count(&report, "stride", "stride", w->stride, NULL);
    return report_end(&report);
}

static int measure(const struct settings *settings, const mlxrocm_model *model, const struct text *content) {
    mlxrocm_error *error = NULL;
    mlxrocm_tokenizer *tokenizer = NULL;
    mlxrocm_session *session = NULL;
    mlxrocm_model_info info = {.struct_size = sizeof info};
    mlxrocm_tokenizer_info words = {.struct_size = sizeof words};
    struct score score = {0};
    size_t count = 0;
    mlxrocm_status status = mlxrocm_model_get_info(model, &info, &error);
    if (status == MLXROCM_OK) status = mlxrocm_model_get_tokenizer(model, &tokenizer, &error);
    if (status == MLXROCM_OK) status = mlxrocm_tokenizer_get_info(tokenizer, &words, &error);
    mlxrocm_tokenizer_free(tokenizer);
    if (status != MLXROCM_OK) return fail_with(error);
    uint32_t *tokens = encode(model, content->bytes, content->length, MLXROCM_ENCODE_ADD_SPECIAL, &count);
    if (tokens == NULL) return EXIT_FAILED;
    struct windows w = {.vocabulary = (size_t)info.vocab_size, .window = settings->window, .stride = settings->stride,
                 .is_quiet = settings->quiet};
    w.has_bos = count > 0 && words.bos != MLXROCM_NO_TOKEN && tokens[0] == words.bos;
    const mlxrocm_session_options options = {.context = (uint32_t)w.window, .max_requests = 1};
    int result = EXIT_FAILED;
    if (count < 2) {
        fail("the text has %zu tokens: too few to predict one", count);
    } else if (new_session(settings, model, options, &session)) {
        w.session = session;
        result = score_text(&w, tokens, count, &score);
    }
    if (result == 0) result = print_score(settings, &w, &score);
    mlxrocm_session_free(session);
    free(tokens);
    return result;
}

static int run(const struct settings *given, char **operands, size_t count) {
    (void)count;
    struct settings settings = *given;
    mlxrocm_device *device = NULL;
    mlxrocm_model *model = NULL;
    struct text content = {0};
    int result = EXIT_FAILED;
    if (settings.window == 0) settings.window = 512;
    if (settings.stride == 0) settings.stride = settings.window / 2;
    /* After BOS and one token more, a token has something before it. */
    if (settings.stride > settings.window - 2) {
        fail("perplexity: --stride is at most the window less 2");
        return EXIT_USAGE;
    }
    catch_interrupts(1);
    if (read_file(operands[1], &content) && check_utf8(operands[1], content.bytes, content.length) &&
        open_device(&settings, &device) && load_model(&settings, device, operands[0], &model))
        result = measure(&settings, model, &content);
    mlxrocm_model_free(model);
    mlxrocm_device_free(device);
    text_free(&content);
    return result;
}

static const struct option_group *const groups[] = {&perplexity_options, &model_options,  &kv_options,
                                             &json_options,       &output_options, NULL};

const struct subcommand perplexity_command = {
    "perplexity", "MODEL FILE", "measures how well a model predicts a text", 2, 2, groups,
    "FILE is UTF-8; - is stdin. Each token is scored once, where it has the most tokens before it.", run,
};
