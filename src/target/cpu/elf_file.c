#include "target/cpu/elf_file.h"

#include <string.h>

bool elf_within(const struct elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->bytes && bytes <= elf->bytes - offset;
}

bool elf_open(const void *data, size_t bytes, unsigned type, struct elf *out)
{
    struct elf elf = {.data = data, .bytes = bytes};
    if (bytes < sizeof(Elf64_Ehdr))
        return false;
    elf.header = data;
    if (memcmp(elf.header->e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.header->e_ident[EI_CLASS] != ELFCLASS64 || elf.header->e_type != type ||
        elf.header->e_shentsize != sizeof(Elf64_Shdr) || elf.header->e_shoff % 8 != 0)
        return false;
    elf.section_count = elf.header->e_shnum;
    if (!elf_within(&elf, elf.header->e_shoff, elf.section_count * sizeof(Elf64_Shdr)) ||
        elf.header->e_shstrndx >= elf.section_count)
        return false;
    elf.sections = (const Elf64_Shdr *)(const void *)(elf.data + elf.header->e_shoff);
    const Elf64_Shdr *names = &elf.sections[elf.header->e_shstrndx];
    if (names->sh_size == 0 || !elf_within(&elf, names->sh_offset, names->sh_size))
        return false;
    elf.names = (const char *)elf.data + names->sh_offset;
    elf.names_bytes = names->sh_size;
    if (elf.names[elf.names_bytes - 1] != '\0')
        return false;
    *out = elf;
    return true;
}

const char *elf_section_name(const struct elf *elf, const Elf64_Shdr *section)
{
    return section->sh_name < elf->names_bytes ? elf->names + section->sh_name : "";
}
