/* Arrays in files and kernels on arrays: wrong arguments are errors and leave outputs as they are, damaged files are
 * refused, a file may be replaced while arrays lie in it, freed objects do no harm.
 *
 *     api_files MODEL FOLDER          where files may be written */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static char mark;
#define UNTOUCHED ((void *)&mark)

static char npy[512], tensors[512];

static void one_array(mlxrocm_array *x) {
    mlxrocm_array *again = UNTOUCHED;
    NULL_ARGUMENT(mlxrocm_array_save(NULL, npy, MLXROCM_NUL, &error));
    NULL_ARGUMENT(mlxrocm_array_save(x, NULL, MLXROCM_NUL, &error));
    INVALID(mlxrocm_array_save(NO_HANDLE, npy, MLXROCM_NUL, &error));
    INVALID(mlxrocm_array_save(x, "a\0b", 3, &error));
    NO_FILE(mlxrocm_array_save(x, "/no/such/folder/x.npy", MLXROCM_NUL, &error));
    EXPECT(MLXROCM_ERROR_IO, mlxrocm_array_save(x, "/dev/null", MLXROCM_NUL, &error));
    EXPECT(MLXROCM_ERROR_IO, mlxrocm_array_save(x, "/", MLXROCM_NUL, &error));
    OK(mlxrocm_array_save(x, npy, strlen(npy), &error));
    NULL_ARGUMENT(mlxrocm_array_load(NULL, MLXROCM_NUL, &again, &error));
    NULL_ARGUMENT(mlxrocm_array_load(npy, MLXROCM_NUL, NULL, &error));
    NO_FILE(mlxrocm_array_load("/no/such/file", MLXROCM_NUL, &again, &error));
    INVALID(mlxrocm_array_load("", 0, &again, &error));
    INVALID(mlxrocm_array_save(x, "", MLXROCM_NUL, &error));
    EXPECT(MLXROCM_ERROR_IO, mlxrocm_array_load("/dev/zero", MLXROCM_NUL, &again, &error));
    CHECK(again == UNTOUCHED);
    OK(mlxrocm_array_load(npy, MLXROCM_NUL, &again, &error));
    /* The file is replaced by a smaller one while the array lies in it. */
    mlxrocm_array *small = NULL;
    OK(mlxrocm_array_number(1, MLXROCM_DTYPE_UINT8, &small, &error));
    OK(mlxrocm_array_save(small, npy, MLXROCM_NUL, &error));
    float numbers[4] = {0};
    OK(mlxrocm_array_read(again, numbers, sizeof numbers, &error));
    CHECK(numbers[0] == 1 && numbers[3] == 4);
    mlxrocm_array_free(again);
    mlxrocm_array_free(small);
}

static void maps(mlxrocm_array *x) {
    mlxrocm_array_map *map = UNTOUCHED;
    mlxrocm_array *found = UNTOUCHED;
    NULL_ARGUMENT(mlxrocm_array_map_new(NULL, &error));
    NULL_ARGUMENT(mlxrocm_array_map_load(NULL, MLXROCM_NUL, &map, &error));
    NULL_ARGUMENT(mlxrocm_array_map_load(npy, MLXROCM_NUL, NULL, &error));
    EXPECT(MLXROCM_ERROR_INVALID_FILE, mlxrocm_array_map_load(npy, MLXROCM_NUL, &map, &error));
    CHECK(map == UNTOUCHED);
    OK(mlxrocm_array_map_new(&map, &error));
    CHECK(mlxrocm_array_map_count(map) == 0 && !mlxrocm_array_map_name(map, 0, NULL));
    NULL_ARGUMENT(mlxrocm_array_map_set(map, NULL, MLXROCM_NUL, x, &error));
    INVALID(mlxrocm_array_map_set(map, "\xff", 1, x, &error));
    INVALID(mlxrocm_array_map_set(map, "a", 1, NO_HANDLE, &error));
    OK(mlxrocm_array_map_set(map, "a", 1, x, &error));
    OK(mlxrocm_array_map_set(map, "b", 1, x, &error));
    OK(mlxrocm_array_map_set(map, "b", 1, NULL, &error));
    OK(mlxrocm_array_map_set_metadata(map, "format", MLXROCM_NUL, "mlx", MLXROCM_NUL, &error));
    OK(mlxrocm_array_map_set_metadata(map, "gone", MLXROCM_NUL, "x", 1, &error));
    OK(mlxrocm_array_map_set_metadata(map, "gone", MLXROCM_NUL, NULL, 0, &error));
    CHECK(mlxrocm_array_map_metadata_count(map) == 1);
    CHECK(mlxrocm_array_map_metadata_kind(map, "format", MLXROCM_NUL) == MLXROCM_METADATA_TEXT);
    CHECK(mlxrocm_array_map_metadata_kind(map, "gone", MLXROCM_NUL) == MLXROCM_METADATA_NONE);
    size_t length = 9;
    CHECK(!strcmp(mlxrocm_array_map_metadata_text(map, "format", MLXROCM_NUL, 0, &length), "mlx") && length == 3);
    CHECK(!mlxrocm_array_map_metadata_text(map, "format", MLXROCM_NUL, 1, &length) && length == 0);
    CHECK(!strcmp(mlxrocm_array_map_metadata_key(map, 0, NULL), "format"));
    INVALID(mlxrocm_array_map_metadata_array(map, "format", MLXROCM_NUL, &found, &error));
    INVALID(mlxrocm_array_map_get(map, "b", 1, &found, &error));
    NULL_ARGUMENT(mlxrocm_array_map_get(map, "a", 1, NULL, &error));
    CHECK(found == UNTOUCHED);
    EXPECT(MLXROCM_ERROR_IO, mlxrocm_array_map_save_safetensors(map, "/no/such/file", MLXROCM_NUL, &error));
    OK(mlxrocm_array_map_save_safetensors(map, tensors, MLXROCM_NUL, &error));
    OK(mlxrocm_array_map_set(map, "", 0, x, &error));
    INVALID(mlxrocm_array_map_save_safetensors(map, tensors, MLXROCM_NUL, &error)); /* no name */
    mlxrocm_array_map_free(map);
    INVALID(mlxrocm_array_map_get(map, "a", 1, &found, &error)); /* freed */
    CHECK(mlxrocm_array_map_count(map) == 0);
    OK(mlxrocm_array_map_load(tensors, MLXROCM_NUL, &map, &error));
    OK(mlxrocm_array_map_get(map, "a", 1, &found, &error));
    /* Onto the file that the array lies in, and once more of what came out. */
    for (int i = 0; i < 3; i++) OK(mlxrocm_array_map_save_safetensors(map, tensors, MLXROCM_NUL, &error));
    mlxrocm_array_map_free(map);
    double value = 0;
    mlxrocm_array *sum = NULL;
    OK(mlxrocm_array_sum(found, NULL, 0, 0, &sum, &error));
    OK(mlxrocm_array_item_f64(sum, &value, &error));
    CHECK(value == 10);
    mlxrocm_array_free(found);
    mlxrocm_array_free(sum);
    mlxrocm_array_map_free(NULL);
}

/* Every beginning of a file, and files with a byte changed: an error, or arrays that can be read. */
static void damaged(const char *path) {
    static unsigned char bytes[4096], broken[4096];
    char name[600];
    FILE *file = fopen(path, "rb");
    CHECK(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    snprintf(name, sizeof name, "%s.broken", path);
    for (size_t i = 0; i < 2 * size; i++) {
        memcpy(broken, bytes, size);
        if (i >= size) broken[i - size] ^= (unsigned char)(1u << i % 8);
        file = fopen(name, "wb");
        CHECK(file && fwrite(broken, 1, i < size ? i : size, file) == (i < size ? i : size));
        fclose(file);
        mlxrocm_array *array = NULL;
        mlxrocm_array_map *map = NULL;
        if (mlxrocm_array_load(name, MLXROCM_NUL, &array, NULL) == MLXROCM_OK) {
            CHECK(mlxrocm_array_eval((const mlxrocm_array *const[]){array}, 1, NULL) == MLXROCM_OK);
            mlxrocm_array_free(array);
        }
        if (mlxrocm_array_map_load(name, MLXROCM_NUL, &map, NULL) == MLXROCM_OK) mlxrocm_array_map_free(map);
    }
    remove(name);
}

static void kernels(void) {
    mlxrocm_array_kernel *kernel = UNTOUCHED;
    mlxrocm_device *cpu = NULL;
    const char *const names[] = {"x", "y"};
    mlxrocm_array_kernel_options options = {.struct_size = sizeof options,
                                            .name = "twice",
                                            .source = "y[threadIdx.x] = 2 * x[threadIdx.x];",
                                            .input_names = names,
                                            .input_count = 1,
                                            .output_names = names + 1,
                                            .output_count = 1};
    OK(mlxrocm_device_open(0, &cpu, &error));
    NULL_ARGUMENT(mlxrocm_array_kernel_new(NULL, &options, &kernel, &error));
    NULL_ARGUMENT(mlxrocm_array_kernel_new(cpu, NULL, &kernel, &error));
    NULL_ARGUMENT(mlxrocm_array_kernel_new(cpu, &options, NULL, &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_UNSUPPORTED, "twice", mlxrocm_array_kernel_new(cpu, &options, &kernel, &error));
    options.source = NULL;
    NULL_ARGUMENT(mlxrocm_array_kernel_new(cpu, &options, &kernel, &error));
    CHECK(kernel == UNTOUCHED);
    const mlxrocm_array_kernel_call call = {.struct_size = sizeof call};
    mlxrocm_array *result = UNTOUCHED;
    INVALID(mlxrocm_array_kernel_apply(NO_HANDLE, &call, &result, &error));
    NULL_ARGUMENT(mlxrocm_array_kernel_apply(NULL, &call, &result, &error));
    CHECK(result == UNTOUCHED);
    mlxrocm_array_kernel_free(NULL);
    mlxrocm_device_free(cpu);
}

static void shared_name(char *path, size_t size, const char *folder) {
    snprintf(path, size, "%s/files-%d-shared.npy", folder, (int)getpid());
}

/* A thread of several that save and load one file. It stays: others may still load it. */
static void *many(void *folder) {
    char path[600];
    shared_name(path, sizeof path, folder);
    mlxrocm_array *x = NULL;
    const float number = 3;
    OK(mlxrocm_array_from_data(&number, NULL, 0, MLXROCM_DTYPE_FLOAT32, &x, &error));
    for (int i = 0; i < 20; i++) {
        mlxrocm_array *again = NULL;
        double value = 0;
        OK(mlxrocm_array_save(x, path, MLXROCM_NUL, &error));
        OK(mlxrocm_array_load(path, MLXROCM_NUL, &again, &error));
        OK(mlxrocm_array_item_f64(again, &value, &error));
        CHECK(value == 3);
        mlxrocm_array_free(again);
    }
    mlxrocm_array_free(x);
    return NULL;
}

/* The model's file: quantized weights, texts and numbers. */
static void model_file(const char *path) {
    mlxrocm_array_map *map = NULL;
    mlxrocm_array *depth = NULL;
    int64_t blocks = 0;
    OK(mlxrocm_array_map_load(path, MLXROCM_NUL, &map, &error));
    OK(mlxrocm_array_map_metadata_array(map, "llama.block_count", MLXROCM_NUL, &depth, &error));
    OK(mlxrocm_array_item_i64(depth, &blocks, &error));
    CHECK(blocks >= 1 && mlxrocm_array_map_count(map) > 5);
    const char *tokens = "tokenizer.ggml.tokens";
    CHECK(mlxrocm_array_map_metadata_kind(map, tokens, MLXROCM_NUL) == MLXROCM_METADATA_TEXTS);
    size_t length = 0;
    CHECK(mlxrocm_array_map_metadata_text(map, tokens, MLXROCM_NUL, 1, &length) && length > 0);
    CHECK(!mlxrocm_array_map_metadata_text(map, tokens, MLXROCM_NUL, 1u << 30, NULL));
    INVALID(mlxrocm_array_map_save_safetensors(map, npy, MLXROCM_NUL, &error)); /* metadata that is no text */
    mlxrocm_array_free(depth);
    mlxrocm_array_map_free(map);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    snprintf(npy, sizeof npy, "%s/files-%d.npy", argv[2], (int)getpid());
    snprintf(tensors, sizeof tensors, "%s/files-%d.safetensors", argv[2], (int)getpid());
    const float numbers[] = {1, 2, 3, 4};
    const int64_t shape[] = {2, 2};
    mlxrocm_array *x = NULL;
    OK(mlxrocm_array_from_data(numbers, shape, 2, MLXROCM_DTYPE_FLOAT32, &x, &error));
    one_array(x);
    maps(x);
    damaged(npy);
    damaged(tensors);
    kernels();
    model_file(argv[1]);
    mlxrocm_array_free(x);
    remove(npy);
    remove(tensors);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) CHECK(!pthread_create(&threads[i], NULL, many, argv[2]));
    for (int i = 0; i < 4; i++) CHECK(!pthread_join(threads[i], NULL));
    char shared[600];
    shared_name(shared, sizeof shared, argv[2]);
    remove(shared);
    puts("files: passed");
    return 0;
}
