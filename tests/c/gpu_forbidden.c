/* A machine whose user may not use the GPU: /dev/kfd is there, opening it is not allowed.
 *
 *     gpu_forbidden MODEL                                                                    */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv) {
    CHECK(argc == 2);
    /* The machine is as it should be. */
    CHECK(open("/dev/kfd", O_RDWR) == -1 && errno == EACCES);
    CHECK(access("/dev/kfd", F_OK) == 0);

    size_t count = 0;
    char text[1024];
    mlxrocm_device *device = NULL;
    OK(mlxrocm_device_count(&count, &error));
    CHECK(count == 1);
    static const char *const parts[] = {"no AMD GPU", "no permission on /dev/kfd",
                                        "groups render and video", "usermod -aG render,video"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        EXPECT_MESSAGE(MLXROCM_ERROR_NO_DEVICE, parts[i], mlxrocm_device_open(1, &device, &error));
        OK(mlxrocm_device_why_none(MLXROCM_DEVICE_HIP, text, sizeof text, NULL, &error));
        CHECK(strstr(text, parts[i]));
    }
    CHECK(!device);

    /* By default a model is on the CPU. */
    mlxrocm_model *model = NULL;
    mlxrocm_model_options options = {0};
    options.struct_size = sizeof options;
    OK(mlxrocm_model_load(argv[1], MLXROCM_NUL, &options, &model, &error));
    mlxrocm_model_free(model);
    return 0;
}
