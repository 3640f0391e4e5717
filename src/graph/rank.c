/*
 * Ranking of text: BM25 (Robertson and Zaragoza, "The probabilistic relevance framework", 2009)
 * with document frequencies of our own. FTS5's bm25() counts the documents of every term anew in
 * every query, which takes seconds where terms are common; here each is counted once, up to a
 * bound, and kept as long as the memory does not double. In a small memory counting is cheap, and
 * is done each time: one decision more changes much there, and a process that has run for long must
 * find what a new one would.
 */
#include "graph/internal.h"

#include "base/buf.h"
#include "base/hash.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* A term in more documents than this tells nothing that a tag would not. */
enum { COMMON_DOCUMENTS = 1000, MOST_DOCUMENTS = 1500, MAX_PHRASES = 8, MAX_TERMS = 64 };
/* Decisions of a memory whose counts are kept. */
enum { LARGE_ROWS = 4000 };
#define K1 1.2
/* What was done and what came of it weighs more than on which task. */
#define TAGS_WEIGHT 0.5

struct term {
    char text[RANK_TERM_BYTES];
    int64_t documents;
};

/* ---- The function. */

static double idf(int64_t documents, int64_t total)
{
    const double n = (double)documents;
    return log(1.0 + (fmax((double)total, n) - n + 0.5) / (n + 0.5));
}

static void rank_row(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *out, int count,
                     sqlite3_value **arguments)
{
    const struct rank *rank = api->xUserData(fts);
    double frequency[MAX_PHRASES] = {0};
    int instances = 0;
    (void)arguments;
    if (count != 0 || api->xInstCount(fts, &instances) != SQLITE_OK) {
        sqlite3_result_error(out, "rank: no instances", -1);
        return;
    }
    for (int i = 0; i < instances; i++) {
        int phrase = 0;
        int column = 0;
        int at = 0;
        if (api->xInst(fts, i, &phrase, &column, &at) == SQLITE_OK && phrase >= 0 &&
            phrase < MAX_PHRASES)
            frequency[phrase] += column == 0 ? 1.0 : TAGS_WEIGHT;
    }
    /* No normalisation by length: texts are capped and alike, and to look a length up costs more
     * than all the rest. */
    double score = 0.0;
    for (size_t i = 0; i < rank->phrase_count; i++)
        score += rank->weights[i] * frequency[i] * (K1 + 1.0) / (frequency[i] + K1);
    sqlite3_result_double(out, score);
}

bool rank_register(struct graph *graph, struct err *err)
{
    fts5_api *api = NULL;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(graph->db, "SELECT fts5(?1)", -1, &statement, NULL) != SQLITE_OK)
        return graph_refused(graph, "open", err);
    (void)sqlite3_bind_pointer(statement, 1, (void *)&api, "fts5_api_ptr", NULL);
    (void)sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
    if (!api)
        return err_set(err, ERR_UNSUPPORTED, "this SQLite has no full-text search (FTS5)");
    if (api->xCreateFunction(api, "kope_rank", &graph->rank, rank_row, NULL) != SQLITE_OK)
        return graph_refused(graph, "open", err);
    return true;
}

/* ---- Document frequencies. */

static bool count_documents(struct graph *graph, const char *term, int64_t *out, struct err *err)
{
    static const char sql[] = "SELECT count(*) FROM (SELECT 1 FROM decision_text"
                              " WHERE decision_text MATCH ?1 LIMIT ?2)";
    CLEANUP(arena_free) struct arena scratch = {0};
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, arena_printf(&scratch, "\"%s\"", term));
    give_int(&query, COMMON_DOCUMENTS + 1);
    if (!query_step(&query, &has_row, err))
        return false;
    *out = has_row ? take_int(&query) : 0;
    return true;
}

static bool count_rows(struct graph *graph, int64_t *out, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph, "SELECT coalesce(max(row), 0) FROM decision", &query, err) ||
        !query_step(&query, &has_row, err))
        return false;
    *out = has_row ? take_int(&query) : 0;
    return true;
}

static size_t slot_of(const char *term)
{
    return hash_fnv1a(term, strlen(term)) % RANK_KEPT_TERMS;
}

/* A term's slot is that of its hash: another term of the same slot is counted again. */
static bool documents_of(struct graph *graph, const char *term, int64_t *out, struct err *err)
{
    struct rank *rank = &graph->rank;
    struct rank_term *kept = &rank->terms[slot_of(term)];
    if (strcmp(kept->text, term) != 0) {
        if (!count_documents(graph, term, &kept->documents, err))
            return false;
        memcpy(kept->text, term, strlen(term) + 1);
    }
    *out = kept->documents;
    return true;
}

/* ---- The expression. */

/* The different words of a text in lower case; those too long for a slot are left out. */
static size_t split_terms(const char *words, struct term terms[MAX_TERMS])
{
    size_t count = 0;
    for (const char *at = words; *at && count < MAX_TERMS;) {
        size_t length = 0;
        while (text_is_word_char(at[length]))
            length++;
        if (length > 1 && length < RANK_TERM_BYTES) {
            struct term *term = &terms[count];
            bool is_new = true;
            for (size_t i = 0; i < length; i++)
                term->text[i] = (char)tolower((unsigned char)at[i]);
            term->text[length] = '\0';
            for (size_t i = 0; i < count; i++)
                is_new = is_new && strcmp(terms[i].text, term->text) != 0;
            count += is_new;
        }
        at += length ? length : 1;
    }
    return count;
}

static void sort_by_documents(struct term *terms, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct term moving = terms[i];
        size_t at = i;
        for (; at > 0 && terms[at - 1].documents > moving.documents; at--)
            terms[at] = terms[at - 1];
        terms[at] = moving;
    }
}

bool rank_prepare(struct graph *graph, const char *words, const char *tag, struct arena *arena,
                  const char **out, struct err *err)
{
    struct rank *rank = &graph->rank;
    struct term terms[MAX_TERMS];
    int64_t rows = 0;
    if (!count_rows(graph, &rows, err))
        return false;
    if (rows < LARGE_ROWS || rows > 2 * rank->rows_counted + 1000 || rows < rank->rows_counted) {
        memset(rank->terms, 0, sizeof rank->terms);
        rank->rows_counted = rows;
    }
    size_t count = split_terms(words, terms);
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (!documents_of(graph, terms[i].text, &terms[i].documents, err))
            return false;
        if (terms[i].documents != 0 && terms[i].documents <= COMMON_DOCUMENTS)
            terms[left++] = terms[i];
    }
    sort_by_documents(terms, left);
    CLEANUP(buf_free) struct buf match = {0};
    int64_t documents = 0;
    rank->phrase_count = 0;
    for (size_t i = 0; i < left && rank->phrase_count < MAX_PHRASES; i++) {
        documents += terms[i].documents;
        if (documents > MOST_DOCUMENTS && i != 0)
            break;
        rank->weights[rank->phrase_count++] = idf(terms[i].documents, rows);
        (void)buf_printf(&match, "%s\"%s\"", i ? " OR " : "(", terms[i].text);
    }
    *out = rank->phrase_count == 0
               ? NULL
               : arena_printf(arena, "%s) AND tags : \"%s\"", buf_text(&match), tag);
    return true;
}
