#include "target/cpu/cpu.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

/*
 * Flags that a candidate may choose: those that change how code is generated, and nothing that
 * names a file, a program, a plugin, a macro or an output. Whatever is not listed is refused.
 */

/* Whole flags, and flags that end in a value ("-march="). */
static const char *const common_exact[] = {
    "-O0", "-O1", "-O2", "-O3", "-Os", "-Ofast", "-mrecip", "-mvzeroupper", "-mno-vzeroupper",
};
static const char *const common_valued[] = {
    "-march=",  "-mtune=",        "-mcpu=",         "-mprefer-vector-width=",
    "-mrecip=", "-ffp-contract=", "-falign-loops=", "-falign-functions=",
};
/* Instruction sets: -mavx2, -mno-avx512f, -mfma. */
static const char *const isa_prefixes[] = {"avx", "sse", "fma", "bmi", "f16c", "popcnt", "lzcnt"};

/* What may follow -f or -fno-. */
static const char *const common_f[] = {
    "math-errno",
    "trapping-math",
    "associative-math",
    "reciprocal-math",
    "signed-zeros",
    "finite-math-only",
    "fast-math",
    "unsafe-math-optimizations",
    "rounding-math",
    "unroll-loops",
    "vectorize",
    "slp-vectorize",
    "tree-vectorize",
    "tree-slp-vectorize",
    "strict-aliasing",
    "strict-overflow",
    "wrapv",
    "omit-frame-pointer",
    "inline-functions",
    "openmp-simd",
    "jump-tables",
    "merge-all-constants",
    "optimize-sibling-calls",
};
static const char *const gcc_f[] = {
    "single-precision-constant",
    "cx-limited-range",
    "unroll-all-loops",
    "peel-loops",
    "unswitch-loops",
    "unconstrained-commons",
    "prefetch-loop-arrays",
    "predictive-commoning",
    "version-loops-for-strides",
    "variable-expansion-in-unroller",
    "rename-registers",
    "web",
    "ivopts",
    "plt",
    "semantic-interposition",
    "aggressive-loop-optimizations",
    "allow-store-data-races",
    "delete-null-pointer-checks",
    "align-loops",
    "align-functions",
    "keep-inline-functions",
    "expensive-optimizations",
};
static const char *const gcc_f_prefixes[] = {
    "tree-", "loop-", "graphite", "ipa-",     "sched",   "selective-sched", "modulo-sched",
    "ira-",  "gcse",  "split-",   "reorder-", "branch-", "if-conversion",   "move-loop-",
};
static const char *const gcc_f_valued[] = {
    "-fvect-cost-model=",
    "-fsimd-cost-model=",
    "-finline-limit=",
    "-fexcess-precision=",
};
static const char *const clang_f[] = {
    "approx-func", "honor-nans", "honor-infinities", "reroll-loops", "finite-loops",
};
static const char *const clang_valued[] = {"-ffp-model=", "-fveclib="};

/* Options of LLVM's passes, after -mllvm; without those that read, write or show files. */
static const char *const llvm_prefixes[] = {
    "-polly",
    "-unroll",
    "-vectoriz",
    "-inline",
    "-force-vector",
    "-slp-",
    "-interleave",
    "-loop-",
    "-runtime-",
    "-prefer-",
    "-enable-unroll-and-jam",
    "-enable-loop",
    "-small-loop-cost",
    "-max-prefetch",
    "-prefetch-distance",
    "-extra-vectorizer-passes",
    "-scalable-vectorization",
    "-enable-masked-vector",
};
static const char *const llvm_refused[] = {
    "export", "import", "dump",  "show", "view", "print",  "file", "dir", "parallel",
    "trace",  "perf",   "debug", "stat", "dot",  "remark", "path", "gpu",
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool in_list(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(word, list[i]))
            return true;
    }
    return false;
}

static bool begins_in_list(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_starts_with(word, list[i]))
            return true;
    }
    return false;
}

/* Letters, digits and a little punctuation: no path, no list of files, no shell. */
static bool is_plain(const char *flag)
{
    for (const char *c = flag; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("-_=.,+", *c))
            return false;
    }
    return strlen(flag) < 96;
}

static bool is_f_flag(const char *flag, bool is_gcc)
{
    const char *word = flag + strlen("-f");
    if (str_starts_with(word, "no-"))
        word += strlen("no-");
    if (in_list(word, common_f, COUNT(common_f)))
        return true;
    if (strchr(word, '='))
        return is_gcc ? begins_in_list(flag, gcc_f_valued, COUNT(gcc_f_valued)) : false;
    return is_gcc ? in_list(word, gcc_f, COUNT(gcc_f)) ||
                        begins_in_list(word, gcc_f_prefixes, COUNT(gcc_f_prefixes))
                  : in_list(word, clang_f, COUNT(clang_f));
}

static bool is_isa_flag(const char *flag)
{
    const char *word = flag + strlen("-m");
    if (str_starts_with(word, "no-"))
        word += strlen("no-");
    return begins_in_list(word, isa_prefixes, COUNT(isa_prefixes));
}

/* "--param=name=number". */
static bool is_parameter(const char *flag)
{
    const char *name = flag + strlen("--param=");
    const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    int64_t value = 0;
    return length > 0 && name[length] == '=' && str_parse_int64(name + length + 1, &value);
}

static bool is_llvm_option(const char *flag)
{
    for (size_t i = 0; i < COUNT(llvm_refused); i++) {
        if (strstr(flag, llvm_refused[i]))
            return false;
    }
    return begins_in_list(flag, llvm_prefixes, COUNT(llvm_prefixes));
}

static bool is_listed(const char *flag, bool is_gcc)
{
    if (in_list(flag, common_exact, COUNT(common_exact)) ||
        begins_in_list(flag, common_valued, COUNT(common_valued)))
        return true;
    if (is_gcc && str_starts_with(flag, "--param="))
        return is_parameter(flag);
    if (!is_gcc && (str_equal(flag, "-mllvm") || is_llvm_option(flag) ||
                    begins_in_list(flag, clang_valued, COUNT(clang_valued))))
        return true;
    if (str_starts_with(flag, "-f"))
        return is_f_flag(flag, is_gcc);
    return str_starts_with(flag, "-m") && is_isa_flag(flag);
}

bool flag_is_allowed(const char *family, const char *flag, const char **why_not)
{
    if (!is_plain(flag)) {
        *why_not = "it holds a character that no optimization flag needs";
        return false;
    }
    if (!is_listed(flag, str_equal(family, "gcc"))) {
        *why_not = "it is not an optimization flag that candidates may set";
        return false;
    }
    return true;
}

bool flags_are_allowed(const char *family, const char *const *flags, size_t count, bool threads,
                       const char **bad, const char **why_not)
{
    const bool is_gcc = str_equal(family, "gcc");
    for (size_t i = 0; i < count; i++) {
        const bool after_mllvm = i > 0 && str_equal(flags[i - 1], "-mllvm");
        *bad = flags[i];
        if (str_equal(flags[i], "-fopenmp") && !after_mllvm) {
            if (threads)
                continue;
            *why_not = "this task allows one thread";
            return false;
        }
        if (!flag_is_allowed(family, flags[i], why_not))
            return false;
        if (str_equal(flags[i], "-mllvm") && (i + 1 == count || after_mllvm)) {
            *why_not = "an LLVM option must follow it";
            return false;
        }
        if (after_mllvm && !is_llvm_option(flags[i])) {
            *why_not = "no such LLVM option may be set";
            return false;
        }
        if (!is_gcc && !after_mllvm && is_llvm_option(flags[i])) {
            *why_not = "'-mllvm' must stand before it";
            return false;
        }
    }
    return true;
}
