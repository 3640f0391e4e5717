/*
 * Reading an ELF object or image in memory: its sections and their names. Used by object.c and
 * code_id.c. Everything that elf_open accepted can be followed; what sections point to is checked
 * with elf_within.
 */
#ifndef KOPE_TARGET_CPU_ELF_FILE_H
#define KOPE_TARGET_CPU_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf {
    const uint8_t *data;
    size_t bytes;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    size_t section_count;
    const char *names; /* of sections, NUL-terminated at the end */
    size_t names_bytes;
};

/* `type` is ET_REL or ET_DYN; false where it is not one, or damaged. `data` is aligned to 8. */
bool elf_open(const void *data, size_t bytes, unsigned type, struct elf *out);
bool elf_within(const struct elf *elf, uint64_t offset, uint64_t bytes);
const char *elf_section_name(const struct elf *elf, const Elf64_Shdr *section);

#endif
