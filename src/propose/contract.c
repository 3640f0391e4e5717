/* What a model is told to answer. A change here changes every prompt: prefix caches begin anew. */
#include "propose/reply.h"

static const char contract[] =
    "You make compute kernels faster. You get a task with its plain C reference, facts about the "
    "machine, experience from earlier attempts, and the current source. Propose candidates that "
    "are faster and still right.\n"
    "\n"
    "Answer with one JSON object and nothing else:\n"
    "\n"
    "{\"proposals\": [{\n"
    "  \"intent\": \"what you change, in one sentence\",\n"
    "  \"hypothesis\": \"why it will be faster, and what could prove that wrong\",\n"
    "  \"predicted_log_speedup\": 0.26,\n"
    "  \"uses\": [\"E2\"],\n"
    "  \"compiler\": null, \"flags\": null,\n"
    "  \"file\": null,\n"
    "  \"edits\": [{\"find\": \"text of the current source\", \"replace\": \"new text\"}],\n"
    "  \"move\": null}]}\n"
    "\n"
    "Of file, edits and move exactly one is not null:\n"
    "- file: one complete C17 translation unit.\n"
    "- edits: each \"find\" must be in the current source exactly once, byte for byte; all are "
    "found in the source as it is shown, and must not overlap. For small changes.\n"
    "- move: {\"name\": \"unroll-loops\", \"parameters\": []}, one of the moves listed under "
    "Knowledge, made for you; possible while the current source itself was made by moves. A "
    "parameter such as \"strip=128\" sets a field of the move to another value.\n"
    "\n"
    "The other keys:\n"
    "- predicted_log_speedup is the natural logarithm of the time of the current source divided "
    "by the time of your candidate (0.69 is twice as fast, 0 no change, negative slower); it will "
    "be compared with the measurement.\n"
    "- uses: labels of the experience (E1, E2, ...) or names of skills that it rests on; [] where "
    "none.\n"
    "- compiler: one that the machine's facts list; flags: an array such as [\"-O3\", "
    "\"-march=native\"]; null keeps what the current source is built with. With a move both are "
    "null.\n"
    "- Several proposals, where they are asked for, must differ in what they try.\n"
    "\n"
    "If you cannot write source as a JSON string, answer with two fenced blocks instead: a "
    "```json block with one proposal without file, edits and move, and a ```c block with the "
    "whole file.\n"
    "\n"
    "A candidate:\n"
    "- It defines the entry point with exactly the given signature. `real` is defined for you "
    "before the first line; the dtype itself may be written too.\n"
    "- Every size from 1 on must work, not only the shapes that are listed; nothing outside the "
    "buffers may be read or written; buffers are aligned to their element only and never overlap, "
    "unless the task says that two arguments are one buffer.\n"
    "- It is compiled and linked for you against libc's memory functions and libm. No other "
    "library, no input or output, no system calls, no threads unless the task allows them.\n"
    "- Inputs are fresh in every call: nothing may be kept from one call to the next.\n"
    "- Results are checked against the reference in double precision on inputs that are not shown. "
    "A candidate that is wrong, or that games the measurement, is rejected.\n";

/* A proposal with its candidate in one of the three ways: the other two are null. */
#define PROPOSAL(file, edits, move)                                                                \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"intent\",\"hypothesis\"," \
    "\"predicted_log_speedup\",\"uses\",\"compiler\",\"flags\",\"file\",\"edits\",\"move\"],"      \
    "\"properties\":{\"intent\":{\"type\":\"string\"},\"hypothesis\":{\"type\":\"string\"},"       \
    "\"predicted_log_speedup\":{\"type\":\"number\"},"                                             \
    "\"uses\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"                               \
    "\"compiler\":{\"type\":[\"string\",\"null\"]},"                                               \
    "\"flags\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"string\"}},"                   \
    "\"file\":" file ",\"edits\":" edits ",\"move\":" move "}}"
#define NOTHING "{\"type\":\"null\"}"
#define FILE_TEXT "{\"type\":\"string\"}"
#define EDITS                                                                                      \
    "{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"object\","                           \
    "\"additionalProperties\":false,\"required\":[\"find\",\"replace\"],\"properties\":"           \
    "{\"find\":{\"type\":\"string\"},\"replace\":{\"type\":\"string\"}}}}"
#define MOVE                                                                                       \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"name\",\"parameters\"],"  \
    "\"properties\":{\"name\":{\"type\":\"string\"},"                                              \
    "\"parameters\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}"

/* One line, canonical: part of the prefix that servers cache. Bounds of numbers and lengths of
 * strings are not in it: some servers refuse a schema that has them. */
static const char schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"proposals\"],"
    "\"properties\":{\"proposals\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"anyOf\":"
    "[" PROPOSAL(FILE_TEXT, NOTHING, NOTHING) "," PROPOSAL(NOTHING, EDITS, NOTHING) "," PROPOSAL(
        NOTHING, NOTHING, MOVE) "]}}}}";

const char *reply_schema(void)
{
    return schema;
}

const char *propose_reply_contract(void)
{
    return contract;
}
