/* A machine without a GPU: the CPU is there, and everything says why there is no more. */
#include "check.h"

int main(void) {
    size_t count = 0, needed = 0;
    char text[1024];
    mlxrocm_device *device = NULL;
    OK(mlxrocm_device_count(&count, &error));
    CHECK(count == 1);
    OK(mlxrocm_device_open(0, &device, &error));
    mlxrocm_device_free(device);
    device = NULL;
    EXPECT_MESSAGE(MLXROCM_ERROR_NO_DEVICE, "MLXROCM_HIP_LIBRARY", mlxrocm_device_open(1, &device, &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_NO_DEVICE, "MLXROCM_CUDA_LIBRARY", mlxrocm_device_open(1, &device, &error));
    CHECK(!device);
    OK(mlxrocm_device_why_none(MLXROCM_DEVICE_HIP, text, sizeof text, &needed, &error));
    CHECK(strstr(text, "/nonexistent/hip.so") && strlen(text) + 1 == needed);
    OK(mlxrocm_device_why_none(MLXROCM_DEVICE_CUDA, text, sizeof text, &needed, &error));
    CHECK(strstr(text, "/nonexistent/cuda.so"));
    return 0;
}
