/*
 * Which decisions are like some words: the sum over the words that they share of the inverse
 * document frequency of BM25 (Robertson and Zaragoza, "The probabilistic relevance framework",
 * 2009; texts are short and capped, so a word counts once and length does not).
 *
 * Table decision_near is made for this question alone. Its terms are not words but hashes of a tag
 * and a word, the tag saying how a decision ended ("xtimed", "xfailed") or that and of which family
 * it is ("xs..." and "xf..."), so that a list of documents holds nothing that would have to be
 * filtered out. A word with more than COMMON_DOCUMENTS of a tag tells too little to be read: a
 * query looks at MOST_DOCUMENTS at most, whatever the size of the memory. Which words are common is
 * kept as long as the memory does not change, so that a process that has run for long finds what a
 * new one finds.
 */
#include "graph/internal.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMMON_DOCUMENTS = 250, MOST_DOCUMENTS = 1000, MAX_PHRASES = 8, MAX_TERMS = 64 };
enum { TOKEN_CHARS = 16, TOKEN_BYTES = TOKEN_CHARS + 1 };

/* ---- Terms. */

/* A term of a tag and a word in lower case; without a word, of all that have the tag. */
static uint64_t term_of(const char *tag, size_t tag_length, const char *word, size_t length)
{
    uint64_t hash = hash_fnv1a(tag, tag_length) ^ (UINT64_C(1) << 63);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)tolower((unsigned char)word[i])) * UINT64_C(0x100000001b3);
    return hash;
}

static void write_token(uint64_t term, char out[TOKEN_BYTES])
{
    for (int i = 0; i < TOKEN_CHARS; i++)
        out[i] = "0123456789abcdef"[term >> (60 - 4 * i) & 15];
    out[TOKEN_CHARS] = '\0';
}

/* The next word from `*at`, which is moved behind it; false at the end. One character alone is in
 * everything and tells nothing. */
static bool next_word(const char **at, const char **word, size_t *length)
{
    while (**at) {
        *word = *at;
        while (text_is_word_char(**at))
            ++*at;
        *length = (size_t)(*at - *word);
        if (**at)
            ++*at;
        if (*length > 1)
            return true;
    }
    return false;
}

/* ---- The SQL function kope_near(body, tags): the terms of a row of decision_text. */

struct tags {
    const char *text[2]; /* how it ended; that with the family */
    size_t length[2], count;
};

/* The last words of the tags, where they are such. */
static struct tags find_tags(const char *text)
{
    struct tags tags = {0};
    const char *second = strrchr(text, ' ');
    if (!second)
        return tags;
    const char *first = second;
    while (first > text && first[-1] != ' ')
        first--;
    const size_t length = (size_t)(second - first);
    if (!str_starts_with(first, TAG_TIMED " ") && !str_starts_with(first, TAG_FAILED " "))
        return tags;
    return (struct tags){{first, second + 1}, {length, strlen(second + 1)}, 2};
}

static void append_terms(const struct tags *tags, const char *words, struct buf *out)
{
    char token[TOKEN_BYTES];
    const char *word = NULL;
    size_t length = 0;
    while (next_word(&words, &word, &length)) {
        for (size_t i = 0; i < tags->count; i++) {
            write_token(term_of(tags->text[i], tags->length[i], word, length), token);
            (void)buf_append(out, token, TOKEN_CHARS);
            (void)buf_append_char(out, ' ');
        }
    }
}

static void near_terms(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    CLEANUP(buf_free) struct buf terms = {0};
    const char *body = (const char *)sqlite3_value_text(arguments[0]);
    const char *text = (const char *)sqlite3_value_text(arguments[1]);
    const struct tags tags = find_tags(text ? text : "");
    (void)count;
    for (size_t i = 0; i < tags.count; i++) {
        char token[TOKEN_BYTES];
        write_token(term_of(tags.text[i], tags.length[i], "", 0), token);
        (void)buf_printf(&terms, "%s ", token);
    }
    append_terms(&tags, body ? body : "", &terms);
    append_terms(&tags, text ? text : "", &terms);
    sqlite3_result_text(context, buf_text(&terms), (int)terms.length, SQLITE_TRANSIENT);
}

/* ---- Documents of a term. */

struct hit {
    int64_t row;
    double score;
};

struct term {
    uint64_t hash;
    int64_t *rows; /* ascending */
    size_t count;
};

/* A list being read: no more than a common term has. */
struct reading {
    int64_t rows[COMMON_DOCUMENTS + 1];
    size_t count;
};
static const char reading_type[] = "kope-reading";

static int note_row(const Fts5ExtensionApi *api, Fts5Context *context, void *into)
{
    struct reading *reading = into;
    reading->rows[reading->count++] = api->xRowid(context);
    return reading->count <= COMMON_DOCUMENTS ? SQLITE_OK : SQLITE_DONE;
}

/* The SQL function kope_rows(decision_near, reading): the list of the first phrase, in ascending
 * order, without the cost of a statement's row for each. */
static void read_list(const Fts5ExtensionApi *api, Fts5Context *context, sqlite3_context *result,
                      int count, sqlite3_value **arguments)
{
    struct reading *reading = count == 1 ? sqlite3_value_pointer(arguments[0], reading_type) : NULL;
    if (reading && api->xQueryPhrase(context, 0, reading, note_row) != SQLITE_OK)
        sqlite3_result_error(result, "the list of a term cannot be read", -1);
}

static bool register_lists(struct graph *graph, struct err *err)
{
    fts5_api *fts5 = NULL;
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph, "SELECT fts5(?1)", &query, err))
        return false;
    (void)sqlite3_bind_pointer(query.statement->handle, 1, (void *)&fts5, "fts5_api_ptr", NULL);
    if (!query_step(&query, &has_row, err))
        return false;
    return (fts5 && fts5->xCreateFunction(fts5, "kope_rows", NULL, read_list, NULL) == SQLITE_OK) ||
           err_set(err, ERR_UNSUPPORTED, "this SQLite is built without FTS5");
}

bool rank_register(struct graph *graph, struct err *err)
{
    return sqlite3_create_function_v2(graph->db, "kope_near", 2,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                      near_terms, NULL, NULL, NULL) == SQLITE_OK
               ? register_lists(graph, err)
               : graph_refused(graph, "open", err);
}

/* `term->count` is 0 where no document has it, or too many. */
static bool read_term(struct graph *graph, struct term *term, struct arena *arena, struct err *err)
{
    static const char sql[] = "SELECT kope_rows(decision_near, ?2) FROM decision_near WHERE "
                              "decision_near MATCH ?1 LIMIT 1";
    uint64_t *const common = &graph->rank.common[term->hash % RANK_KEPT_TERMS];
    struct reading reading = {.count = 0};
    char token[TOKEN_BYTES];
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    term->count = 0;
    if (*common == term->hash)
        return true;
    if (!query_begin(graph, sql, &query, err))
        return false;
    write_token(term->hash, token);
    give_text(&query, token);
    (void)sqlite3_bind_pointer(query.statement->handle, query.next++, &reading, reading_type, NULL);
    if (!query_step(&query, &has_row, err))
        return false;
    if (reading.count > COMMON_DOCUMENTS) {
        *common = term->hash;
        return true;
    }
    term->rows = arena_memdup(arena, reading.rows, reading.count * sizeof *reading.rows);
    term->count = reading.count;
    return true;
}

static bool forget_where_changed(struct graph *graph, struct err *err)
{
    struct graph_version now;
    if (!graph_version_now(graph, &now, err))
        return false;
    if (!graph_version_equal(now, graph->rank.version))
        graph->rank = (struct rank){.version = now};
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

/* ---- Ranking. */

static double idf(size_t documents, int64_t total)
{
    const double n = (double)documents;
    return log(1.0 + (fmax((double)total, n) - n + 0.5) / (n + 0.5));
}

/* The different words of a text, with the tag. */
static size_t split_terms(const char *words, const char *tag, struct term terms[MAX_TERMS])
{
    const char *word = NULL;
    size_t length = 0;
    size_t count = 0;
    while (count < MAX_TERMS && next_word(&words, &word, &length)) {
        const uint64_t hash = term_of(tag, strlen(tag), word, length);
        bool is_new = true;
        for (size_t i = 0; i < count; i++)
            is_new = is_new && terms[i].hash != hash;
        if (is_new)
            terms[count++] = (struct term){.hash = hash};
    }
    return count;
}

/* Rarest first; of equals, in the order of the text. */
static void sort_by_documents(struct term *terms, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct term moving = terms[i];
        size_t at = i;
        for (; at > 0 && terms[at - 1].count > moving.count; at--)
            terms[at] = terms[at - 1];
        terms[at] = moving;
    }
}

/* Lists of the rarest terms, walked together in the order of rows. */
struct walk {
    const int64_t *rows[MAX_PHRASES], *end[MAX_PHRASES];
    double weights[MAX_PHRASES];
    size_t count;
};

static struct walk begin_walk(const struct term *terms, size_t count, int64_t total)
{
    struct walk walk = {.count = 0};
    size_t documents = 0;
    for (size_t i = 0; i < count && i < MAX_PHRASES; i++) {
        documents += terms[i].count;
        if (documents > MOST_DOCUMENTS)
            break;
        walk.rows[i] = terms[i].rows;
        walk.end[i] = terms[i].rows + terms[i].count;
        walk.weights[i] = idf(terms[i].count, total);
        walk.count++;
    }
    return walk;
}

/* The next row with the sum of its weights, always added up in the same order. */
static bool next_hit(struct walk *walk, struct hit *out)
{
    *out = (struct hit){.row = INT64_MAX};
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->rows[i] != walk->end[i] && *walk->rows[i] < out->row)
            out->row = *walk->rows[i];
    }
    if (out->row == INT64_MAX)
        return false;
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->rows[i] != walk->end[i] && *walk->rows[i] == out->row) {
            out->score += walk->weights[i];
            walk->rows[i]++;
        }
    }
    return true;
}

/* The best of the hits, best first; of equals, the latest. */
static size_t keep_best(struct walk *walk, struct hit *hits, size_t limit)
{
    struct hit hit;
    size_t count = 0;
    while (next_hit(walk, &hit)) {
        size_t at = count;
        if (count == limit) {
            if (limit == 0 || hit.score < hits[limit - 1].score)
                continue;
            at = limit - 1;
        } else {
            count++;
        }
        for (; at > 0 && hits[at - 1].score <= hit.score; at--)
            hits[at] = hits[at - 1];
        hits[at] = hit;
    }
    return count;
}

bool rank_near(struct graph *graph, const char *words, const char *tag, size_t limit,
               struct arena *arena, const int64_t **out, size_t *out_count, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct term terms[MAX_TERMS];
    struct hit *hits = arena_array(&scratch, limit + 1, sizeof *hits);
    int64_t total = 0;
    if (!forget_where_changed(graph, err) || !count_rows(graph, &total, err))
        return false;
    const size_t count = split_terms(words, tag, terms);
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (!read_term(graph, &terms[i], &scratch, err))
            return false;
        if (terms[i].count != 0)
            terms[left++] = terms[i];
    }
    sort_by_documents(terms, left);
    struct walk walk = begin_walk(terms, left, total);
    const size_t found = keep_best(&walk, hits, limit);
    int64_t *rows = arena_array(arena, found + 1, sizeof *rows);
    for (size_t i = 0; i < found; i++)
        rows[i] = hits[i].row;
    *out = rows;
    *out_count = found;
    return true;
}

bool rank_latest(struct graph *graph, const char *tag, size_t limit, struct arena *arena,
                 const int64_t **out, size_t *out_count, struct err *err)
{
    static const char sql[] = "SELECT rowid FROM decision_near WHERE decision_near MATCH ?1"
                              " ORDER BY rowid DESC LIMIT ?2";
    char token[TOKEN_BYTES];
    int64_t *rows = arena_array(arena, limit + 1, sizeof *rows);
    size_t count = 0;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    write_token(term_of(tag, strlen(tag), "", 0), token);
    give_text(&query, token);
    give_int(&query, row_limit(limit));
    for (; count < limit; count++) {
        bool has_row = false;
        if (!query_step(&query, &has_row, err))
            return false;
        if (!has_row)
            break;
        rows[count] = take_int(&query);
    }
    *out = rows;
    *out_count = count;
    return true;
}
