// Streams a model's answer, in C++.
//
//     generate MODEL PROMPT
#include <mlxrocm.hpp>

#include <iostream>

int main(int argc, char **argv) {
    if (argc != 3) {
        std::cerr << "usage: generate MODEL PROMPT\n";
        return 2;
    }
    try {
        const mlxrocm::Model model(argv[1], 0, [](std::uint64_t done, std::uint64_t total) {
            std::cerr << "\rloading " << (total ? 100 * done / total : 100) << " %";
            return true; // go on
        });
        std::cerr << "\n" << model.info().name << ", " << model.info().quantization << "\n";

        mlxrocm::Session session(model);
        mlxrocm::Request request;
        request.chat({{"user", argv[2]}}).max_tokens(100);
        request.options.temperature = 0.7f;
        request.options.top_p = 0.95f;
        request.options.seed = 1;

        auto generation = session.submit(request);
        for (const mlxrocm::Event &event : generation) {
            std::cout << event.text() << std::flush;
            if (!event.is_finished()) continue;
            std::cout << "\n";
            if (event.decode_seconds > 0)
                std::cerr << static_cast<double>(event.generated_tokens - 1) / event.decode_seconds
                          << " tokens/s\n";
        }
        return 0;
    } catch (const mlxrocm::Error &error) {
        std::cerr << error.status_name() << ": " << error.what() << "\n";
        return 1;
    }
}
