/* What an instruction of x86 does, by its name and operands in the syntax of AT&T. */
#include "profile/read.h"

#include "base/str.h"

#include <string.h>

enum { NAME_BYTES = 24, ZMM_BYTES = 64, YMM_BYTES = 32, XMM_BYTES = 16 };

static bool begins_in(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_starts_with(name, list[i]))
            return true;
    }
    return false;
}

#define BEGINS_IN(name, list) begins_in(name, list, sizeof(list) / sizeof *(list))

static const char *const divides[] = {"div", "sqrt", "idiv"};
static const char *const shuffles[] = {"perm",    "shuf",    "unpck",  "broadcast", "insert",
                                       "extract", "align",   "palign", "punpck",    "pshuf",
                                       "movhlps", "movlhps", "movsh",  "movsl",     "pbroadcast",
                                       "pinsr",   "pextr",   "pslldq", "psrldq",    "pack"};
static const char *const gathers[] = {"gather", "pgather", "scatter", "pscatter"};
static const char *const sums[] = {"add",    "sub",  "mul",   "fmadd",   "fmsub", "fnmadd",
                                   "fnmsub", "max",  "min",   "rcp",     "rsqrt", "dp",
                                   "hadd",   "hsub", "round", "rndscale"};
static const char *const integers[] = {"padd", "psub", "pmul",     "pmadd", "pdp",  "pmax",
                                       "pmin", "pand", "por",      "pxor",  "psll", "psrl",
                                       "psra", "pcmp", "pternlog", "pavg",  "psad", "pabs"};
static const char *const arm_branches[] = {"b.", "cb", "tb"};

/* The element that the end of a name says; 0: none of floating point. */
static int element_bytes(const char *name, bool *is_scalar)
{
    const size_t length = strlen(name);
    if (length < 3)
        return 0;
    const char kind = name[length - 2], type = name[length - 1];
    *is_scalar = kind == 's';
    if (kind != 's' && kind != 'p')
        return 0;
    return type == 's' ? 4 : type == 'd' ? 8 : type == 'h' ? 2 : 0;
}

static int register_bytes(const char *operands)
{
    return strstr(operands, "%zmm")   ? ZMM_BYTES
           : strstr(operands, "%ymm") ? YMM_BYTES
           : strstr(operands, "%xmm") ? XMM_BYTES
                                      : 0;
}

/* The last operand is in memory: what is written, for all but comparisons. */
static bool writes_memory(const char *operands)
{
    const size_t length = strcspn(operands, "#");
    size_t end = length;
    while (end > 0 && (operands[end - 1] == ' ' || operands[end - 1] == '\t'))
        end--;
    if (end > 0 && operands[end - 1] == '}') { /* under a mask */
        while (end > 0 && operands[end - 1] != '{')
            end--;
        end -= end > 0;
    }
    return end > 0 && operands[end - 1] == ')';
}

static enum instruction_class class_of(const char *name, const char *operands, int width)
{
    const char *plain = name[0] == 'v' ? name + 1 : name;
    const bool has_memory = strchr(operands, '(') != NULL;
    const bool is_move = str_starts_with(plain, "mov") || str_starts_with(plain, "lddqu");
    bool is_scalar = false;
    if (str_starts_with(name, "call"))
        return INSTRUCTION_CALL;
    if (BEGINS_IN(plain, gathers))
        return INSTRUCTION_GATHER;
    if (has_memory && writes_memory(operands) && !str_starts_with(name, "cmp") &&
        !str_starts_with(name, "test") && !str_starts_with(name, "lea") &&
        !str_starts_with(name, "prefetch") && name[0] != 'j')
        return INSTRUCTION_STORE;
    if (BEGINS_IN(plain, divides) && (width == 0 || element_bytes(name, &is_scalar) != 0))
        return INSTRUCTION_DIVIDE;
    if (width != 0 && BEGINS_IN(plain, shuffles))
        return has_memory ? INSTRUCTION_LOAD : INSTRUCTION_SHUFFLE;
    if (width != 0 && ((BEGINS_IN(plain, sums) && element_bytes(name, &is_scalar) != 0) ||
                       BEGINS_IN(plain, integers)))
        return INSTRUCTION_ARITHMETIC;
    return has_memory && is_move ? INSTRUCTION_LOAD : INSTRUCTION_OTHER;
}

struct instruction instruction_of(const char *text)
{
    struct instruction out = {.text = text};
    char name[NAME_BYTES];
    const size_t length = strcspn(text, " \t");
    const char *operands = text + length;
    if (length >= sizeof name || BEGINS_IN(text, arm_branches))
        return out;
    memcpy(name, text, length);
    name[length] = '\0';
    out.width = register_bytes(operands);
    out.class = class_of(name, operands, out.width);
    out.has_memory = strchr(operands, '(') != NULL && !str_starts_with(name, "lea");
    out.has_stack = out.has_memory && (strstr(operands, "(%rsp") || strstr(operands, "(%rbp"));
    if (out.class == INSTRUCTION_ARITHMETIC || out.class == INSTRUCTION_DIVIDE) {
        bool is_scalar = false;
        const int bytes = element_bytes(name, &is_scalar);
        out.is_float = bytes != 0 && name[out.width != 0 && name[0] == 'v'] != 'p';
        out.is_scalar = out.is_float && is_scalar;
        if (out.is_scalar)
            out.width = bytes;
    }
    return out;
}
