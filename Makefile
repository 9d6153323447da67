# make              the release library: target/release/libmlxrocm.so
# make demo         fetches a small model and streams an answer
# make test         all tests; make install DESTDIR= PREFIX= LIBDIR=; make bench-cpu; make clean
#
# CARGO_TARGET_DIR, RUSTFLAGS, SOURCE_DATE_EPOCH, CC, CXX, CFLAGS, CXXFLAGS and LDFLAGS are honoured.

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
SONAME  := libmlxrocm.so.0

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include

CARGO ?= cargo
PYTHON ?= python3
CFLAGS ?= -O2
CXXFLAGS ?= -O2
WARNINGS = -Wall -Wextra -Wpedantic -Werror

TARGET  := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
RELEASE := $(TARGET)/release
LIBRARY := $(RELEASE)/libmlxrocm.so

# The demo model: SmolLM2-135M-Instruct, Q4_1, out of a Python wheel.
CACHE := $(if $(MLXROCM_CACHE_DIR),$(MLXROCM_CACHE_DIR),.cache/models)
MODEL := $(CACHE)/SmolLM2-135M-Instruct.Q4_1.gguf
export MLXROCM_DEMO_MODEL := $(abspath $(MODEL))
export MLXROCM_TEST_MODELS := $(abspath $(CACHE))

EXAMPLES := $(RELEASE)/examples-c
PROGRAMS := $(patsubst c_examples/%.c,$(EXAMPLES)/%,$(wildcard c_examples/*.c)) \
            $(patsubst c_examples/cpp/%.cpp,$(EXAMPLES)/cpp/%,$(wildcard c_examples/cpp/*.cpp))

PROMPT ?= Write one sentence about the sea.

.PHONY: all examples demo model folders test check install bench-cpu clean FORCE

all: $(LIBRARY)

# Cargo knows best whether anything is to be built.
$(LIBRARY): FORCE
	$(CARGO) build --release --locked --lib
	@ln -sf libmlxrocm.so $(RELEASE)/$(SONAME)

FORCE:

examples: $(PROGRAMS)

LINK = -L$(RELEASE) -Wl,-rpath,$(abspath $(RELEASE)) $(LDFLAGS) -lmlxrocm

$(EXAMPLES)/%: c_examples/%.c include/mlxrocm.h | $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) -std=c11 $(WARNINGS) $(CFLAGS) -Iinclude $< -o $@ $(LINK)

$(EXAMPLES)/cpp/%: c_examples/cpp/%.cpp include/mlxrocm.h include/mlxrocm.hpp | $(LIBRARY)
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(WARNINGS) $(CXXFLAGS) -Iinclude $< -o $@ $(LINK)

demo: $(EXAMPLES)/03_generate model
	$(EXAMPLES)/03_generate --chat $(MODEL) "$(PROMPT)"

model:
	@PYTHON="$(PYTHON)" sh tests/support/fetch_model.sh "$(MODEL)"

# MLX model folders made from the demo model.
folders: model
	@PYTHON="$(PYTHON)" sh tests/golden/models/make_folders.sh "$(MODEL)" "$(CACHE)"

test: model folders
	@CARGO="$(CARGO)" sh tests/support/test.sh

# What a change must pass besides the tests.
check:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings

# What is there is installed as it is, so that `make && sudo make install` builds nothing as root.
install: $(if $(wildcard $(LIBRARY)),,$(LIBRARY))
	install -d $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 include/mlxrocm.h include/mlxrocm.hpp $(DESTDIR)$(INCLUDEDIR)/
	install -m 755 $(LIBRARY) $(DESTDIR)$(LIBDIR)/libmlxrocm.so.$(VERSION)
	ln -sf libmlxrocm.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libmlxrocm.so
	install -m 644 $(RELEASE)/libmlxrocm.a $(DESTDIR)$(LIBDIR)/
	sed -e 's|@VERSION@|$(VERSION)|' \
		-e "s|@INCLUDEDIR@|$$(realpath -m --relative-to=$(LIBDIR)/pkgconfig $(INCLUDEDIR))|" \
		include/mlxrocm.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/mlxrocm.pc
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/mlxrocm.pc

bench-cpu: $(LIBRARY) model
	bash tests/bench/cpu.sh

clean:
	$(CARGO) clean
