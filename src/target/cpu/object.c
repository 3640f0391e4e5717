#include "target/cpu/cpu.h"
#include "target/cpu/elf_file.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/*
 * What an object may contain. The compiler made it, but from hostile source, so each offset is
 * checked before it is followed.
 */
enum {
    MOST_WRITABLE_BYTES = 1024 * 1024,
    MOST_IMAGE_BYTES = 16 * 1024 * 1024,
};

static bool refuse(const char **why, const char *text)
{
    *why = text;
    return false;
}

/* Sections whose code would run, or be chosen, outside of a call. */
static bool section_allowed(const struct elf *elf, const Elf64_Shdr *section, struct arena *arena,
                            const char **why)
{
    static const char *const refused[] = {".init", ".fini", ".ctors", ".dtors", ".preinit"};
    const char *name = elf_section_name(elf, section);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (str_starts_with(name, refused[i]))
            return refuse(
                why, arena_printf(arena, "it has a constructor or destructor ('%.60s')", name));
    }
    if (section->sh_type == SHT_INIT_ARRAY || section->sh_type == SHT_FINI_ARRAY ||
        section->sh_type == SHT_PREINIT_ARRAY)
        return refuse(why, "it has a constructor or destructor");
    if (section->sh_flags & SHF_TLS)
        return refuse(why, "it has thread-local data");
    if ((section->sh_flags & SHF_WRITE) && (section->sh_flags & SHF_EXECINSTR))
        return refuse(why, arena_printf(arena, "section '%.60s' is writable and executable", name));
    if (section->sh_type != SHT_NOBITS && !elf_within(elf, section->sh_offset, section->sh_size))
        return refuse(why, "a section lies outside the object");
    return true;
}

/* What the linker makes: an object that brings its own would speak to the loader. */
static bool leaves_linking_to_us(const struct elf *elf, struct arena *arena, const char **why)
{
    static const char *const ours[] = {".dynamic", ".dynsym", ".dynstr", ".hash",       ".gnu.hash",
                                       ".interp",  ".got",    ".plt",    ".gnu.version"};
    for (size_t i = 0; i < elf->section_count; i++) {
        const char *name = elf_section_name(elf, &elf->sections[i]);
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
            if (str_starts_with(name, ours[k]))
                return refuse(why,
                              arena_printf(arena, "it brings a section '%.60s' of its own", name));
        if (elf->sections[i].sh_type == SHT_DYNAMIC)
            return refuse(why, "it brings a dynamic section of its own");
    }
    return true;
}

static bool check_sections(const struct elf *elf, struct arena *arena, const char **why)
{
    uint64_t writable = 0, loaded = 0;
    for (size_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        if (!section_allowed(elf, section, arena, why))
            return false;
        if (!(section->sh_flags & SHF_ALLOC))
            continue;
        if (section->sh_size > MOST_IMAGE_BYTES)
            return refuse(why, "a section is larger than 16 MiB");
        loaded += section->sh_size;
        if (section->sh_flags & SHF_WRITE)
            writable += section->sh_size;
    }
    if (writable > MOST_WRITABLE_BYTES)
        return refuse(why, arena_printf(arena, "%llu bytes of writable static data, %d allowed",
                                        (unsigned long long)writable, MOST_WRITABLE_BYTES));
    if (loaded > MOST_IMAGE_BYTES)
        return refuse(why, "it is larger than 16 MiB");
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool may_use(const struct object_rules *rules, const char *name)
{
    static const char *const of_threads[] = {"pthread_", "GOMP_", "__kmpc_", "omp_"};
    for (size_t i = 0; !rules->threads && i < sizeof of_threads / sizeof *of_threads; i++) {
        if (str_starts_with(name, of_threads[i]))
            return false;
    }
    return str_equal(name, "_GLOBAL_OFFSET_TABLE_") ||
           bsearch(&name, rules->symbols, rules->symbol_count, sizeof *rules->symbols, by_name);
}

static bool check_symbol(const Elf64_Sym *symbol, const char *name,
                         const struct object_rules *rules, struct arena *arena, const char **why)
{
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (type == STT_GNU_IFUNC)
        return refuse(why, arena_printf(arena, "'%.100s' is an indirect function", name));
    if (type == STT_TLS)
        return refuse(why, arena_printf(arena, "'%.100s' is thread-local", name));
    if (symbol->st_shndx == SHN_COMMON && symbol->st_size > MOST_WRITABLE_BYTES)
        return refuse(why, arena_printf(arena, "'%.100s' is more than 1 MiB of data", name));
    if (symbol->st_shndx != SHN_UNDEF || name[0] == '\0' || may_use(rules, name))
        return true;
    return refuse(why, arena_printf(arena,
                                    "it uses '%.100s', which is not among the functions that a "
                                    "kernel may call (libm, memcpy, malloc and their like)",
                                    name));
}

static bool check_symbols(const struct elf *elf, const struct object_rules *rules,
                          struct arena *arena, const char **why)
{
    for (size_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *table = &elf->sections[i];
        if (table->sh_type != SHT_SYMTAB)
            continue;
        if (table->sh_link >= elf->section_count || table->sh_offset % 8 != 0)
            return refuse(why, "the symbol table is damaged");
        const Elf64_Shdr *strings = &elf->sections[table->sh_link];
        const char *text = (const char *)elf->data + strings->sh_offset;
        if (strings->sh_type != SHT_STRTAB || strings->sh_size == 0 ||
            text[strings->sh_size - 1] != '\0')
            return refuse(why, "the symbol names are damaged");
        const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(elf->data + table->sh_offset);
        for (size_t s = 0; s < table->sh_size / sizeof *symbols; s++) {
            if (symbols[s].st_name >= strings->sh_size)
                return refuse(why, "a symbol has no name");
            if (!check_symbol(&symbols[s], text + symbols[s].st_name, rules, arena, why))
                return false;
        }
    }
    return true;
}

bool object_check(const void *object, size_t bytes, const struct object_rules *rules,
                  struct arena *arena, const char **why)
{
    struct elf elf;
    if (!elf_open(object, bytes, ET_REL, &elf))
        return refuse(why, "the compiler's output is no object");
    return leaves_linking_to_us(&elf, arena, why) && check_sections(&elf, arena, why) &&
           check_symbols(&elf, rules, arena, why);
}

bool image_check(const void *image, size_t bytes, struct arena *arena, const char **why)
{
    struct elf elf;
    if (bytes > 2 * (size_t)MOST_IMAGE_BYTES)
        return refuse(why, "the image is larger than 32 MiB");
    if (!elf_open(image, bytes, ET_DYN, &elf))
        return refuse(why, "the linker's output is no shared image");
    return check_sections(&elf, arena, why);
}
