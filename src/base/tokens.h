/*
 * Token counts without a tokenizer: an upper bound that a budget can rely on.
 *
 * The estimator goes over the text once. A run of letters costs ceil(length / 4), and every letter
 * beyond twelve a half; one more for each lower-to-upper switch, a quarter for each further
 * capital, and three fifths for each pair of neighbours that is rare in words: so letters without
 * sense (encoded data, mangled names), which vocabularies have in pieces of one or two, cost what
 * they are. A digit, a piece of ASCII punctuation and a newline cost 1; a run of two or more spaces
 * or a tab costs 1, a single space 0; a byte that is not ASCII costs 1. The bound adds a tenth and
 * never exceeds the bytes, which bound every byte-level tokenizer.
 *
 * That is measured, not proven: over 221 files of this program, random texts and 10,000 contexts of
 * random memories no count of OpenAI's o200k, Qwen 3 and Llama 2 passes the bound ('./dev test
 * tokens'). What is left to an adversary is short words of pronounceable nonsense. Pure.
 */
#ifndef KOPE_BASE_TOKENS_H
#define KOPE_BASE_TOKENS_H

#include <stddef.h>
#include <stdint.h>

int64_t tokens_estimate(const char *text, size_t length);
/* min(bytes, ceil(1.10 x estimate)). */
int64_t tokens_bound(const char *text, size_t length);
/* Framing of one chat message. */
enum { TOKENS_PER_MESSAGE = 16 };

#endif
