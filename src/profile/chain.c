/* Which operations of a loop go on from one iteration to the next: those that a vector register
 * leads to which is read before it is written, and written later. */
#include "profile/internal.h"

#include "base/str.h"

#include <string.h>

enum { REGISTERS = 32, MOST_OPERANDS = 5, MOST_NAMES = 16, NAME_BYTES = 24 };

/* Of an instruction: the vector registers that it reads and the one that it writes, or -1. */
struct use {
    int reads[MOST_OPERANDS + 1];
    size_t read_count;
    int writes;
};

/* The number of "%ymm7"; -1 where it is none. */
static int register_of(const char *operand, size_t length)
{
    enum { PREFIX = 4 };
    int number = 0;
    if (length <= PREFIX || operand[0] != '%' || !strchr("xyz", operand[1]) || operand[2] != 'm' ||
        operand[3] != 'm')
        return -1;
    for (size_t i = PREFIX; i < length && operand[i] >= '0' && operand[i] <= '9'; i++)
        number = number < REGISTERS ? 10 * number + (operand[i] - '0') : REGISTERS;
    return number < REGISTERS ? number : -1;
}

/* Up to the next comma that is in no parentheses. */
static size_t operand_length(const char *at)
{
    size_t length = 0;
    for (int depth = 0; at[length] && !(at[length] == ',' && depth <= 0); length++)
        depth += (at[length] == '(') - (at[length] == ')');
    return length;
}

/* Does it read what it writes, though its operands do not say it twice? */
static bool adds_to_its_result(const char *name)
{
    return name[0] != 'v' || str_starts_with(name, "vfm") || str_starts_with(name, "vfnm");
}

static struct use use_of(const struct instruction *in)
{
    struct use use = {.writes = -1};
    const char *at = in->text + strcspn(in->text, " \t");
    int found[MOST_OPERANDS];
    size_t count = 0;
    for (at += strspn(at, " \t"); *at && count < MOST_OPERANDS;) {
        const size_t length = operand_length(at);
        found[count++] = register_of(at, length);
        at += length + (at[length] == ',');
        at += strspn(at, " \t");
    }
    if (count == 0)
        return use;
    use.writes = found[count - 1];
    for (size_t i = 0; i + 1 < count; i++) {
        if (found[i] >= 0)
            use.reads[use.read_count++] = found[i];
    }
    if (use.writes >= 0 && in->class != INSTRUCTION_LOAD && adds_to_its_result(in->text) &&
        !str_starts_with(in->text, "mov"))
        use.reads[use.read_count++] = use.writes;
    return use;
}

/* Registers that bring something over from the iteration before. */
static void find_carried(const struct loop *loop, bool *carried)
{
    bool read_first[REGISTERS] = {false}, written[REGISTERS] = {false};
    for (size_t i = 0; i < loop->count; i++) {
        const struct use use = use_of(&loop->items[i]);
        for (size_t k = 0; k < use.read_count; k++)
            read_first[use.reads[k]] |= !written[use.reads[k]];
        if (use.writes >= 0)
            written[use.writes] = true;
    }
    for (size_t i = 0; i < REGISTERS; i++)
        carried[i] = read_first[i] && written[i];
}

struct names {
    char names[MOST_NAMES][NAME_BYTES];
    size_t counts[MOST_NAMES], count;
};

static void count_name(struct names *names, const char *text)
{
    const size_t length = strcspn(text, " \t");
    size_t i = 0;
    if (length >= NAME_BYTES)
        return;
    while (i < names->count &&
           !(strncmp(names->names[i], text, length) == 0 && names->names[i][length] == '\0'))
        i++;
    if (i == MOST_NAMES)
        return;
    if (i == names->count) {
        memcpy(names->names[i], text, length);
        names->count++;
    }
    names->counts[i]++;
}

const char *loop_chain(const struct loop *loop, size_t *links, struct arena *arena)
{
    bool carried[REGISTERS];
    struct names names = {.count = 0};
    size_t best = 0;
    *links = 0;
    find_carried(loop, carried);
    for (size_t i = 0; i < loop->count; i++) {
        const struct use use = use_of(&loop->items[i]);
        bool is_link = false;
        for (size_t k = 0; k < use.read_count; k++)
            is_link |= carried[use.reads[k]];
        if (is_link && loop->items[i].is_float)
            count_name(&names, loop->items[i].text);
        if (use.writes >= 0)
            carried[use.writes] = is_link;
    }
    for (size_t i = 1; i < names.count; i++)
        best = names.counts[i] > names.counts[best] ? i : best;
    if (names.count == 0)
        return "";
    *links = names.counts[best];
    return arena_strdup(arena, names.names[best]);
}
