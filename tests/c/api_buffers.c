/* Text in and out: measuring, exact and too small buffers, bytes that are not UTF-8, templates. */
#include "check.h"

static void round_trip(const mlxrocm_tokenizer *tokenizer, const char *text, size_t length,
                       const char *expected, size_t expected_length) {
    uint32_t tokens[256];
    size_t count = 0, again = 0, needed = 0;
    OK(mlxrocm_tokenizer_encode(tokenizer, text, length, 0, NULL, 0, &count, &error));
    CHECK(count > 0 && count < 256);
    memset(tokens, 0xee, sizeof tokens);
    if (count > 1) {
        EXPECT(MLXROCM_ERROR_BUFFER_TOO_SMALL,
               mlxrocm_tokenizer_encode(tokenizer, text, length, 0, tokens, count - 1, &again, &error));
        CHECK(again == count && tokens[0] == 0xeeeeeeee);
    }
    OK(mlxrocm_tokenizer_encode(tokenizer, text, length, 0, tokens, count, NULL, &error));
    CHECK(tokens[count - 1] != 0xeeeeeeee && tokens[count] == 0xeeeeeeee);

    char room[1024];
    OK(mlxrocm_tokenizer_decode(tokenizer, tokens, count, 0, NULL, 0, &needed, &error));
    CHECK(needed == expected_length + 1);
    memset(room, 'x', sizeof room);
    EXPECT(MLXROCM_ERROR_BUFFER_TOO_SMALL,
           mlxrocm_tokenizer_decode(tokenizer, tokens, count, 0, room, needed - 1, &again, &error));
    CHECK(again == needed && room[0] == 'x');
    OK(mlxrocm_tokenizer_decode(tokenizer, tokens, count, 0, room, needed, &again, &error));
    CHECK(again == needed && memcmp(room, expected, expected_length) == 0);
    CHECK(room[expected_length] == '\0' && room[needed] == 'x');

    /* The bytes of the tokens, one after another, are the text. */
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        OK(mlxrocm_tokenizer_token_bytes(tokenizer, tokens[i], room + at, sizeof room - at, &needed,
                                         &error));
        at += needed - 1;
    }
    CHECK(at == expected_length && memcmp(room, expected, at) == 0);
}

static void specials(const mlxrocm_tokenizer *tokenizer) {
    uint32_t id = 0, special = 0, tokens[64];
    size_t count = 0, needed = 0;
    const char *spelling = "<|im_end|>";
    const size_t length = strlen(spelling);
    OK(mlxrocm_tokenizer_find_token(tokenizer, spelling, MLXROCM_NUL, &id, &error));
    CHECK(id != MLXROCM_NO_TOKEN);
    OK(mlxrocm_tokenizer_is_special(tokenizer, id, &special, &error));
    CHECK(special == 1);
    OK(mlxrocm_tokenizer_is_special(tokenizer, 0, &special, &error));
    OK(mlxrocm_tokenizer_encode(tokenizer, spelling, length, MLXROCM_ENCODE_PARSE_SPECIAL, tokens,
                                64, &count, &error));
    CHECK(count == 1 && tokens[0] == id);
    char room[64];
    OK(mlxrocm_tokenizer_decode(tokenizer, tokens, 1, 0, room, 64, &needed, &error));
    CHECK(strcmp(room, spelling) == 0);
    OK(mlxrocm_tokenizer_decode(tokenizer, tokens, 1, MLXROCM_DECODE_SKIP_SPECIAL, room, 64, &needed,
                                &error));
    CHECK(needed == 1 && room[0] == '\0');
    OK(mlxrocm_tokenizer_encode(tokenizer, spelling, length, 0, tokens, 64, &count, &error));
    CHECK(count > 1); /* as plain text */
}

static void templates(const mlxrocm_model *model) {
    mlxrocm_chat_template *chat = NULL;
    const mlxrocm_message messages[] = {{.role = "system", .content = "Be brief."},
                                        {.role = "user", .content = "Hi \xff!"}};
    const char *expected = "<|im_start|>system\nBe brief.<|im_end|>\n"
                           "<|im_start|>user\nHi \xef\xbf\xbd!<|im_end|>\n<|im_start|>assistant\n";
    char room[512], small[4] = {'x', 'x', 'x', 'x'};
    size_t needed = 0;
    OK(mlxrocm_model_get_chat_template(model, &chat, &error));
    OK(mlxrocm_chat_template_render(chat, messages, 2, MLXROCM_RENDER_GENERATION_PROMPT, NULL, MLXROCM_NUL,
                                    room,
                                    sizeof room, &needed, &error));
    CHECK(strcmp(room, expected) == 0 && needed == strlen(expected) + 1);
    EXPECT(MLXROCM_ERROR_BUFFER_TOO_SMALL,
           mlxrocm_chat_template_render(chat, messages, 2, 0, NULL, MLXROCM_NUL, small, 4, &needed, &error));
    CHECK(small[0] == 'x' && needed > 4);
    OK(mlxrocm_chat_template_source(chat, NULL, 0, &needed, &error));
    CHECK(needed > 10 && needed < sizeof room);
    OK(mlxrocm_chat_template_source(chat, room, needed, NULL, &error));
    mlxrocm_chat_template *same = NULL;
    OK(mlxrocm_chat_template_new(room, MLXROCM_NUL, "<s>", MLXROCM_NUL, "</s>", MLXROCM_NUL, &same, &error));
    mlxrocm_chat_template_free(chat);
    OK(mlxrocm_chat_template_render(same, messages, 2, MLXROCM_RENDER_GENERATION_PROMPT, "", MLXROCM_NUL, room,
                                    sizeof room, &needed, &error));
    CHECK(strcmp(room, expected) == 0);
    mlxrocm_chat_template_free(same);

    mlxrocm_chat_template *extra = NULL;
    OK(mlxrocm_chat_template_new("{{ bos_token }}{{ x }}{{ messages|length }}", MLXROCM_NUL, "<s>",
                                 MLXROCM_NUL, NULL, MLXROCM_NUL, &extra,
                                 &error));
    OK(mlxrocm_chat_template_render(extra, NULL, 0, 0, "{\"x\": 5}", MLXROCM_NUL, room, sizeof room, &needed,
                                    &error));
    CHECK(strcmp(room, "<s>50") == 0);
    mlxrocm_chat_template_free(extra);

    /* A template that never ends runs out of fuel. */
    OK(mlxrocm_chat_template_new("{% for a in range(9999) %}{% for b in range(9999) %}"
                                 "{% for c in range(9999) %}{{ c }}{% endfor %}{% endfor %}{% endfor %}", MLXROCM_NUL,
                                 NULL, MLXROCM_NUL, NULL, MLXROCM_NUL, &extra, &error));
    mlxrocm_error *error = NULL;
    CHECK(mlxrocm_chat_template_render(extra, messages, 2, 0, NULL, MLXROCM_NUL, NULL, 0, &needed, &error) < 0);
    CHECK(mlxrocm_error_message(error, NULL)[0]);
    mlxrocm_error_free(error);
    mlxrocm_chat_template_free(extra);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    mlxrocm_model *model = load(argv[1]);
    mlxrocm_tokenizer *tokenizer = NULL;
    OK(mlxrocm_model_get_tokenizer(model, &tokenizer, &error));
    const char *plain = "The hat, 1920: na\xc3\xafve \xe2\x98\x83 and \xf0\x9f\x98\x80.\n";
    round_trip(tokenizer, plain, strlen(plain), plain, strlen(plain));
    round_trip(tokenizer, "a\0b", 3, "a\0b", 3);
    round_trip(tokenizer, "x\xff\xc3(y", 5, "x\xef\xbf\xbd\xef\xbf\xbd(y", 9);
    round_trip(tokenizer, "abc", 2, "ab", 2); /* no NUL is needed */
    specials(tokenizer);
    templates(model);
    mlxrocm_tokenizer_free(tokenizer);
    mlxrocm_model_free(model);
    return 0;
}
