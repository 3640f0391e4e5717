#include "runner/runner.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>

/*
 * The loader: a position-independent image without dependencies, constructors, thread-local
 * storage or indirect functions. Everything in the file is hostile; every offset is checked against
 * the file or the span before it is used.
 */
enum { PAGE_BYTES = 4096 };
#define MOST_SPAN_BYTES ((uint64_t)64 * 1024 * 1024)

#if defined(__x86_64__)
enum {
    THIS_MACHINE = EM_X86_64,
    RELOCATION_ABSOLUTE = R_X86_64_64,
    RELOCATION_GLOBAL = R_X86_64_GLOB_DAT,
    RELOCATION_SLOT = R_X86_64_JUMP_SLOT,
    RELOCATION_RELATIVE = R_X86_64_RELATIVE
};
#elif defined(__aarch64__)
enum {
    THIS_MACHINE = EM_AARCH64,
    RELOCATION_ABSOLUTE = R_AARCH64_ABS64,
    RELOCATION_GLOBAL = R_AARCH64_GLOB_DAT,
    RELOCATION_SLOT = R_AARCH64_JUMP_SLOT,
    RELOCATION_RELATIVE = R_AARCH64_RELATIVE
};
#else
#error "the loader knows no relocations of this machine"
#endif

struct loading {
    const uint8_t *file;
    size_t file_bytes;
    const Elf64_Phdr *headers;
    size_t header_count;
    uint8_t *base; /* where address 0 of the image lies */
    uint64_t span; /* bytes from there */
    const Elf64_Sym *symbols;
    uint64_t symbol_count;
    const char *strings;
    uint64_t strings_bytes;
    const char *why;
};

static bool refuse(struct loading *l, const char *why)
{
    l->why = why;
    return false;
}

static uint64_t page_up(uint64_t value)
{
    return (value + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

static bool in_span(const struct loading *l, uint64_t address, uint64_t bytes)
{
    return address <= l->span && bytes <= l->span - address;
}

static bool read_headers(struct loading *l)
{
    if (l->file_bytes < sizeof(Elf64_Ehdr))
        return refuse(l, "the image is too short");
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)l->file;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_type != ET_DYN || header->e_machine != THIS_MACHINE ||
        header->e_phentsize != sizeof(Elf64_Phdr))
        return refuse(l, "not an image of this machine");
    if (header->e_phoff % sizeof(uint64_t) != 0 || header->e_phoff > l->file_bytes ||
        header->e_phnum > (l->file_bytes - header->e_phoff) / sizeof(Elf64_Phdr))
        return refuse(l, "the program headers lie outside the image");
    l->headers = (const Elf64_Phdr *)(const void *)(l->file + header->e_phoff);
    l->header_count = header->e_phnum;
    return true;
}

static bool check_segment(struct loading *l, const Elf64_Phdr *segment)
{
    if (segment->p_type == PT_TLS || segment->p_type == PT_INTERP)
        return refuse(l, "the image has thread-local storage or an interpreter");
    if (segment->p_type != PT_LOAD)
        return true;
    if (segment->p_offset > l->file_bytes ||
        segment->p_filesz > l->file_bytes - segment->p_offset ||
        segment->p_filesz > segment->p_memsz || segment->p_memsz > MOST_SPAN_BYTES ||
        segment->p_vaddr > MOST_SPAN_BYTES)
        return refuse(l, "a segment lies outside the image");
    if ((segment->p_flags & PF_W) && (segment->p_flags & PF_X))
        return refuse(l, "a segment is writable and executable");
    const uint64_t end = page_up(segment->p_vaddr + segment->p_memsz);
    if (end > l->span)
        l->span = end;
    return true;
}

static bool copy_segments(struct loading *l)
{
    for (size_t i = 0; i < l->header_count; i++) {
        if (!check_segment(l, &l->headers[i]))
            return false;
    }
    if (l->span == 0)
        return refuse(l, "the image is empty");
    l->base = mmap(NULL, l->span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (l->base == MAP_FAILED)
        return refuse(l, "no memory for the image");
    for (size_t i = 0; i < l->header_count; i++) {
        const Elf64_Phdr *segment = &l->headers[i];
        if (segment->p_type == PT_LOAD)
            memcpy(l->base + segment->p_vaddr, l->file + segment->p_offset, segment->p_filesz);
    }
    return true;
}

struct dynamic {
    uint64_t symbols, strings, strings_bytes, hash;
    uint64_t relocations, relocations_bytes, slots, slots_bytes;
};

static bool read_dynamic_entry(struct loading *l, const Elf64_Dyn *entry, struct dynamic *out)
{
    switch (entry->d_tag) {
    case DT_SYMTAB:
        out->symbols = entry->d_un.d_ptr;
        return true;
    case DT_STRTAB:
        out->strings = entry->d_un.d_ptr;
        return true;
    case DT_STRSZ:
        out->strings_bytes = entry->d_un.d_val;
        return true;
    case DT_HASH:
        out->hash = entry->d_un.d_ptr;
        return true;
    case DT_RELA:
        out->relocations = entry->d_un.d_ptr;
        return true;
    case DT_RELASZ:
        out->relocations_bytes = entry->d_un.d_val;
        return true;
    case DT_JMPREL:
        out->slots = entry->d_un.d_ptr;
        return true;
    case DT_PLTRELSZ:
        out->slots_bytes = entry->d_un.d_val;
        return true;
    case DT_NEEDED:
        return refuse(l, "the image needs a library");
    case DT_INIT:
    case DT_FINI:
    case DT_INIT_ARRAY:
    case DT_FINI_ARRAY:
    case DT_PREINIT_ARRAY:
        return refuse(l, "the image has constructors or destructors");
    case DT_TEXTREL:
    case DT_RELR:
        return refuse(l, "the image has relocations that are not known here");
    default:
        return true;
    }
}

#ifndef DT_RELR
#error "elf.h without DT_RELR"
#endif

static bool read_dynamic(struct loading *l, struct dynamic *out)
{
    for (size_t i = 0; i < l->header_count; i++) {
        const Elf64_Phdr *segment = &l->headers[i];
        if (segment->p_type != PT_DYNAMIC)
            continue;
        if (segment->p_vaddr % sizeof(uint64_t) != 0 ||
            !in_span(l, segment->p_vaddr, segment->p_memsz))
            return refuse(l, "the dynamic section lies outside the image");
        const Elf64_Dyn *entry = (const Elf64_Dyn *)(const void *)(l->base + segment->p_vaddr);
        for (size_t n = segment->p_memsz / sizeof *entry; n > 0 && entry->d_tag != DT_NULL;
             n--, entry++) {
            if (!read_dynamic_entry(l, entry, out))
                return false;
        }
        return true;
    }
    return refuse(l, "the image has no dynamic section");
}

static bool find_symbols(struct loading *l, const struct dynamic *d)
{
    if (d->hash % sizeof(uint32_t) != 0 || !in_span(l, d->hash, 2 * sizeof(uint32_t)))
        return refuse(l, "the hash table lies outside the image");
    l->symbol_count = ((const uint32_t *)(const void *)(l->base + d->hash))[1];
    if (d->symbols % sizeof(uint64_t) != 0 || l->symbol_count > l->span / sizeof(Elf64_Sym) ||
        !in_span(l, d->symbols, l->symbol_count * sizeof(Elf64_Sym)))
        return refuse(l, "the symbols lie outside the image");
    if (d->strings_bytes == 0 || !in_span(l, d->strings, d->strings_bytes) ||
        l->base[d->strings + d->strings_bytes - 1] != 0)
        return refuse(l, "the names lie outside the image");
    l->symbols = (const Elf64_Sym *)(const void *)(l->base + d->symbols);
    l->strings = (const char *)l->base + d->strings;
    l->strings_bytes = d->strings_bytes;
    return true;
}

/* NULL where it does not end within the names: relocations may have written over them. */
static const char *symbol_name(const struct loading *l, const Elf64_Sym *symbol)
{
    const uint64_t first = symbol->st_name;
    return first < l->strings_bytes && memchr(l->strings + first, '\0', l->strings_bytes - first)
               ? l->strings + first
               : NULL;
}

static bool symbol_address(struct loading *l, uint64_t index, uint64_t *out)
{
    if (index >= l->symbol_count)
        return refuse(l, "a relocation names no symbol");
    const Elf64_Sym *symbol = &l->symbols[index];
    const char *name = symbol_name(l, symbol);
    if (!name)
        return refuse(l, "a relocation names no symbol");
    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ||
        ELF64_ST_TYPE(symbol->st_info) == STT_TLS)
        return refuse(l, "a symbol is an indirect function or thread-local");
    if (symbol->st_shndx != SHN_UNDEF) {
        *out = (uint64_t)(uintptr_t)l->base + symbol->st_value;
        return true;
    }
    const runner_function found = symbol_find(name);
    if (!found)
        return refuse(l, "a symbol is not among the allowed ones");
    *out = (uint64_t)(uintptr_t)found;
    return true;
}

static bool relocate(struct loading *l, const Elf64_Rela *r)
{
    uint64_t value = 0;
    if (!in_span(l, r->r_offset, sizeof value))
        return refuse(l, "a relocation lies outside the image");
    switch (ELF64_R_TYPE(r->r_info)) {
    case RELOCATION_RELATIVE:
        value = (uint64_t)(uintptr_t)l->base;
        break;
    case RELOCATION_ABSOLUTE:
    case RELOCATION_GLOBAL:
    case RELOCATION_SLOT:
        if (!symbol_address(l, ELF64_R_SYM(r->r_info), &value))
            return false;
        break;
    default:
        return refuse(l, "a relocation is of a kind that is not allowed");
    }
    value += (uint64_t)r->r_addend;
    memcpy(l->base + r->r_offset, &value, sizeof value);
    return true;
}

static bool relocate_all(struct loading *l, uint64_t table, uint64_t bytes)
{
    if (bytes == 0)
        return true;
    if (table % sizeof(uint64_t) != 0 || !in_span(l, table, bytes))
        return refuse(l, "the relocations lie outside the image");
    const Elf64_Rela *r = (const Elf64_Rela *)(const void *)(l->base + table);
    for (uint64_t i = 0; i < bytes / sizeof *r; i++) {
        if (!relocate(l, &r[i]))
            return false;
    }
    return true;
}

static bool find_entry(struct loading *l, runner_call *out)
{
    for (uint64_t i = 1; i < l->symbol_count; i++) {
        const Elf64_Sym *symbol = &l->symbols[i];
        const char *name = symbol_name(l, symbol);
        if (symbol->st_shndx == SHN_UNDEF || !name || strcmp(name, RUNNER_ENTRY) != 0)
            continue;
        if (!in_span(l, symbol->st_value, 1))
            return refuse(l, "the entry lies outside the image");
        const uint64_t address = (uint64_t)(uintptr_t)l->base + symbol->st_value;
        memcpy(out, &address, sizeof *out); /* a data pointer as a function pointer: POSIX */
        return true;
    }
    return refuse(l, "the image has no entry '" RUNNER_ENTRY "'");
}

static bool protect(struct loading *l)
{
    if (mprotect(l->base, l->span, PROT_NONE) != 0)
        return refuse(l, "the image cannot be protected");
    for (size_t i = 0; i < l->header_count; i++) {
        const Elf64_Phdr *segment = &l->headers[i];
        const bool relro = segment->p_type == PT_GNU_RELRO;
        if ((segment->p_type != PT_LOAD && !relro) || segment->p_memsz == 0)
            continue;
        if (!in_span(l, segment->p_vaddr, segment->p_memsz))
            return refuse(l, "a segment lies outside the image");
        const uint64_t first = segment->p_vaddr & ~(uint64_t)(PAGE_BYTES - 1);
        const uint64_t whole = segment->p_vaddr + segment->p_memsz;
        /* What is read-only after relocation ends at a page; a part of a page stays writable. */
        const uint64_t end = relro ? whole & ~(uint64_t)(PAGE_BYTES - 1) : page_up(whole);
        int access = PROT_READ;
        if (!relro && (segment->p_flags & PF_W))
            access |= PROT_WRITE;
        if (!relro && (segment->p_flags & PF_X))
            access |= PROT_EXEC;
        if (end > first && mprotect(l->base + first, end - first, access) != 0)
            return refuse(l, "the image cannot be protected");
    }
    return true;
}

bool image_load(const uint8_t *file, size_t file_bytes, struct image *out, const char **why)
{
    struct loading l = {.file = file, .file_bytes = file_bytes};
    struct dynamic d = {0};
    runner_call entry = NULL;
    if (!read_headers(&l) || !copy_segments(&l) || !read_dynamic(&l, &d) || !find_symbols(&l, &d) ||
        !relocate_all(&l, d.relocations, d.relocations_bytes) ||
        !relocate_all(&l, d.slots, d.slots_bytes) || !find_entry(&l, &entry) || !protect(&l)) {
        if (l.base && l.base != MAP_FAILED)
            (void)munmap(l.base, l.span);
        *why = l.why;
        return false;
    }
    *out = (struct image){.base = l.base, .bytes = l.span, .entry = entry};
    return true;
}
