#include "target/cpu/cpu.h"
#include "target/cpu/elf_file.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The id of the machine code: for each loaded section in order of name, its name, its bytes with
 * every relocated field zeroed, and for each relocation its place, kind, symbol and addend; then
 * where each global symbol lies, since the same bytes under exchanged names are other code. Paths,
 * file names, unwind tables and comments are not in it, so the same code from another file has the
 * same id. Functions are not moved and padding is kept: an equal id means equal code, a different
 * one may still be the same.
 */
struct collector {
    const struct elf *elf;
    struct buf text;
};

static bool counts_as_code(const struct elf *elf, const Elf64_Shdr *section)
{
    const char *name = elf_section_name(elf, section);
    return (section->sh_flags & SHF_ALLOC) && !str_starts_with(name, ".eh_frame") &&
           !str_starts_with(name, ".note") && section->sh_type != SHT_NOTE;
}

static size_t relocated_bytes(uint64_t kind)
{
    return kind == R_X86_64_64 || kind == R_X86_64_PC64 ? 8 : 4;
}

static const char *symbol_label(const struct elf *elf, const Elf64_Shdr *table, uint64_t index,
                                char *out, size_t room)
{
    const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(elf->data + table->sh_offset);
    const Elf64_Shdr *strings = &elf->sections[table->sh_link];
    if (index >= table->sh_size / sizeof *symbols)
        return "";
    const Elf64_Sym *symbol = &symbols[index];
    if (ELF64_ST_BIND(symbol->st_info) != STB_LOCAL || symbol->st_shndx >= elf->section_count)
        return (const char *)elf->data + strings->sh_offset + symbol->st_name;
    /* Names of local symbols are the compiler's or the author's fancy: place instead. */
    (void)snprintf(out, room, "%s+%llu", elf_section_name(elf, &elf->sections[symbol->st_shndx]),
                   (unsigned long long)symbol->st_value);
    return out;
}

static void collect_relocations(struct collector *c, size_t target, uint8_t *bytes, size_t length)
{
    const struct elf *elf = c->elf;
    for (size_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        if (section->sh_type != SHT_RELA || section->sh_info != target ||
            section->sh_link >= elf->section_count || section->sh_offset % 8 != 0 ||
            elf->sections[section->sh_link].sh_type != SHT_SYMTAB)
            continue; /* object_check has followed every symbol table */
        const Elf64_Rela *r = (const Elf64_Rela *)(const void *)(elf->data + section->sh_offset);
        for (size_t n = 0; n < section->sh_size / sizeof *r; n++) {
            char label[128];
            const size_t width = relocated_bytes(ELF64_R_TYPE(r[n].r_info));
            if (r[n].r_offset <= length && width <= length - r[n].r_offset)
                memset(bytes + r[n].r_offset, 0, width);
            (void)buf_printf(&c->text, "%llu %llu %s %lld\n", (unsigned long long)r[n].r_offset,
                             (unsigned long long)ELF64_R_TYPE(r[n].r_info),
                             symbol_label(elf, &elf->sections[section->sh_link],
                                          ELF64_R_SYM(r[n].r_info), label, sizeof label),
                             (long long)r[n].r_addend);
        }
    }
}

static void collect_section(struct collector *c, size_t index)
{
    const Elf64_Shdr *section = &c->elf->sections[index];
    (void)buf_printf(&c->text, "%s %llu\n", elf_section_name(c->elf, section),
                     (unsigned long long)section->sh_size);
    if (section->sh_type == SHT_NOBITS || section->sh_size == 0)
        return;
    uint8_t *bytes = malloc(section->sh_size);
    if (!bytes)
        BUG("out of memory");
    memcpy(bytes, c->elf->data + section->sh_offset, section->sh_size);
    collect_relocations(c, index, bytes, section->sh_size);
    (void)buf_append(&c->text, bytes, section->sh_size);
    free(bytes);
}

/* Globals that the object defines, in the order of its table, which the compiler derives from the
 * source alone. */
static void collect_symbols(struct collector *c)
{
    const struct elf *elf = c->elf;
    for (size_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *table = &elf->sections[i];
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= elf->section_count ||
            table->sh_offset % 8 != 0)
            continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(elf->data + table->sh_offset);
        const char *names = (const char *)elf->data + elf->sections[table->sh_link].sh_offset;
        for (size_t n = 0; n < table->sh_size / sizeof *symbols; n++) {
            const Elf64_Sym *symbol = &symbols[n];
            if (ELF64_ST_BIND(symbol->st_info) == STB_LOCAL || symbol->st_shndx == SHN_UNDEF ||
                symbol->st_shndx >= elf->section_count)
                continue;
            (void)buf_printf(&c->text, "%s %s %llu %llu\n", names + symbol->st_name,
                             elf_section_name(elf, &elf->sections[symbol->st_shndx]),
                             (unsigned long long)symbol->st_value,
                             (unsigned long long)symbol->st_size);
        }
    }
}

struct hash_id code_id(const void *object, size_t bytes)
{
    struct elf elf;
    if (!elf_open(object, bytes, ET_REL, &elf))
        BUG("an id for what is no object");
    struct collector c = {.elf = &elf};
    const char *last = "";
    /* Selection by name, then by index: objects have few sections. */
    for (;;) {
        const char *next = NULL;
        for (size_t i = 0; i < elf.section_count; i++) {
            const char *name = elf_section_name(&elf, &elf.sections[i]);
            if (counts_as_code(&elf, &elf.sections[i]) && strcmp(name, last) > 0 &&
                (!next || strcmp(name, next) < 0))
                next = name;
        }
        if (!next)
            break;
        for (size_t i = 0; i < elf.section_count; i++) {
            if (counts_as_code(&elf, &elf.sections[i]) &&
                str_equal(elf_section_name(&elf, &elf.sections[i]), next))
                collect_section(&c, i);
        }
        last = next;
    }
    collect_symbols(&c);
    const struct hash_id id = hash_content(buf_text(&c.text), c.text.length);
    buf_free(&c.text);
    return id;
}
