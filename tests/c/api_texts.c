/* Lengths of texts: what goes in needs no NUL and may hold some, what comes out says how long it is. The
 * sanitizers and valgrind see every byte that is read beyond. */
#include "check.h"

/* A copy of exactly its bytes, so that the next one is nobody's. */
static char *exactly(const char *text, size_t length) {
    char *copy = malloc(length ? length : 1);
    CHECK(copy);
    memcpy(copy, text, length);
    return copy;
}

static void inputs(const char *path) {
    mlxrocm_model_options options = {.struct_size = sizeof options, .threads = 1};
    mlxrocm_model *model = NULL;
    char *name = exactly(path, strlen(path));
    OK(mlxrocm_model_load(name, strlen(path), &options, &model, &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_IO, "", mlxrocm_model_load(name, strlen(path) - 1, &options, &model, &error));
    free(name);
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "path has a NUL (byte 1)",
                   mlxrocm_model_load("a\0b", 3, &options, &model, &error));
    NULL_ARGUMENT(mlxrocm_model_load(NULL, 1, &options, &model, &error));

    mlxrocm_tokenizer *tokenizer = NULL;
    OK(mlxrocm_model_get_tokenizer(model, &tokenizer, &error));
    uint32_t plain[8], with_nul[8], token = 0;
    size_t count = 0, more = 0;
    OK(mlxrocm_tokenizer_encode(tokenizer, "ab", MLXROCM_NUL, 0, plain, 8, &count, &error));
    char *text = exactly("ab\0ab", 5);
    OK(mlxrocm_tokenizer_encode(tokenizer, text, 2, 0, with_nul, 8, &more, &error));
    CHECK(count == more && memcmp(plain, with_nul, count * sizeof *plain) == 0);
    OK(mlxrocm_tokenizer_encode(tokenizer, text, 5, 0, NULL, 0, &more, &error));
    CHECK(more > count);
    OK(mlxrocm_tokenizer_encode(tokenizer, NULL, 0, 0, NULL, 0, &more, &error));
    CHECK(more == 0);
    free(text);
    char *spelling = exactly("<|im_end|>", 10);
    OK(mlxrocm_tokenizer_find_token(tokenizer, spelling, 10, &token, &error));
    CHECK(token != MLXROCM_NO_TOKEN);
    OK(mlxrocm_tokenizer_find_token(tokenizer, spelling, 9, &token, &error));
    CHECK(token == MLXROCM_NO_TOKEN);
    free(spelling);
    mlxrocm_tokenizer_free(tokenizer);

    mlxrocm_session *session = session_of(model);
    char *prompt = exactly("ab", 2), *end = exactly("zz", 2);
    const char *const stop[] = {end};
    const size_t lengths[] = {2};
    mlxrocm_request request = {.struct_size = sizeof request, .max_tokens = 2};
    request.text = prompt;
    request.text_length = 2;
    request.stop = stop;
    request.stop_lengths = lengths;
    request.stop_count = 1;
    mlxrocm_generation *generation = NULL;
    OK(mlxrocm_session_submit(session, &request, &generation, &error));
    CHECK(drain(generation, &count) != MLXROCM_FINISH_ERROR);
    mlxrocm_generation_free(generation);
    free(prompt);
    free(end);
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
}

static void templates(void) {
    char *source = exactly("{{ bos_token }}{{ x }}{{ messages[0].content }}!", 48), *bos = exactly("<", 1);
    mlxrocm_chat_template *chat = NULL;
    OK(mlxrocm_chat_template_new(source, 48, bos, 1, NULL, 0, &chat, &error));
    free(source);
    free(bos);
    char *role = exactly("user", 4), *content = exactly("a\0b", 3), *extra = exactly("{\"x\":5}", 7);
    mlxrocm_message message = {role, 4, content, 3};
    char room[16];
    size_t needed = 0;
    OK(mlxrocm_chat_template_render(chat, &message, 1, 0, extra, 7, room, sizeof room, &needed, &error));
    CHECK(needed == 7 && memcmp(room, "<5a\0b!", 7) == 0);
    message.content_length = 0; /* up to the NUL */
    OK(mlxrocm_chat_template_render(chat, &message, 1, 0, NULL, 0, room, sizeof room, &needed, &error));
    CHECK(needed == 4 && strcmp(room, "<a!") == 0);
    free(role);
    free(content);
    free(extra);
    mlxrocm_chat_template_free(chat);
}

static void outputs(const char *path) {
    size_t length = 99;
    const char *text = mlxrocm_version_string(&length);
    CHECK(strlen(text) == length);
    text = mlxrocm_build_info(&length);
    CHECK(strlen(text) == length);
    for (mlxrocm_status status = -20; status < 4; ++status) {
        text = mlxrocm_status_name(status, &length);
        CHECK(strlen(text) == length && text == mlxrocm_status_name(status, NULL));
    }
    text = mlxrocm_chess_net_move_name(0, &length);
    CHECK(strlen(text) == length && length == 4);
    CHECK(!mlxrocm_chess_net_move_name(MLXROCM_CHESS_MOVES, &length) && length == 4);
    CHECK(!mlxrocm_error_message(NULL, &length)[0] && length == 0);
    mlxrocm_error *error = NULL;
    CHECK(mlxrocm_device_open(1000000, NULL, &error) < 0);
    text = mlxrocm_error_message(error, &length);
    CHECK(length > 0 && strlen(text) == length);
    text = mlxrocm_error_details(error, &length);
    CHECK(strlen(text) == length);
    mlxrocm_error_free(error);

    mlxrocm_device *device = NULL;
    mlxrocm_device_info facts = {.struct_size = sizeof facts};
    OK(mlxrocm_device_open(0, &device, &error));
    OK(mlxrocm_device_get_info(device, &facts, &error));
    CHECK(strlen(facts.name) == facts.name_length && facts.isa_length == strlen(facts.isa) && facts.isa_length > 0);
    CHECK(strlen(facts.target) == facts.target_length && strlen(facts.pci_id) == facts.pci_id_length);
    mlxrocm_device_free(device);
    mlxrocm_model *model = load(path);
    mlxrocm_model_info info = {.struct_size = sizeof info};
    OK(mlxrocm_model_get_info(model, &info, &error));
    CHECK(strlen(info.family) == info.family_length && info.family_length == 5);
    CHECK(strlen(info.name) == info.name_length && info.quantization_length == strlen(info.quantization));
    mlxrocm_model_free(model);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    inputs(argv[1]);
    templates();
    outputs(argv[1]);
    return 0;
}
