/*
 * Text search. The searched text of a decision comes from several events (the decision, its
 * outcome, its run's task); whichever of them arrives makes it again, so that the order does not
 * matter.
 */
#include "graph/internal.h"

#include "base/buf.h"

#include <ctype.h>
#include <string.h>

enum { MAX_WORDS = 64, MAX_WORD_BYTES = 64 };

#define CHOSEN_BY_DECISION "(SELECT row FROM decision WHERE decision_id = ?1)"
#define CHOSEN_BY_RUN "(SELECT row FROM decision WHERE run_id = ?1)"
#define CHOSEN_BY_TASK                                                                             \
    "(SELECT d.row FROM run r JOIN decision d ON d.run_id = r.run_id WHERE r.task_id = ?1)"
/* The last words of the tags say how it ended, and that with the family, as one word each: what
 * rank.c makes terms of. */
#define REMOVE_TEXT "DELETE FROM decision_text WHERE rowid IN "
/* The terms of a row of decision_near have to be said again to be removed. */
#define REMOVE_NEAR                                                                                \
    "INSERT INTO decision_near(decision_near, rowid, terms)"                                       \
    " SELECT 'delete', rowid, kope_near(body, tags) FROM decision_text WHERE rowid IN "
#define INSERT_NEAR                                                                                \
    "INSERT INTO decision_near(rowid, terms) SELECT rowid, kope_near(body, tags) FROM "            \
    "decision_text"
#define INSERT_TEXT                                                                                \
    "INSERT INTO decision_text(rowid, body, tags)"                                                 \
    " SELECT d.row, d.intent || ' ' || d.hypothesis || ' ' || d.moves || ' ' || d.failure || ' '"  \
    " || coalesce(o.kind || ' ' || o.mechanism || ' ' || o.evidence || ' ' || o.diagnostics, '')," \
    " coalesce(t.name || ' ' || t.family || ' ' || t.dtype || ' ' || t.features, '')"              \
    " || CASE WHEN o.kind IS NULL OR o.kind = 'too-noisy' THEN ''"                                 \
    " WHEN o.kind = 'timed' THEN ' " TAG_TIMED " xs' || hex(coalesce(t.family, ''))"               \
    " ELSE ' " TAG_FAILED " xf' || hex(coalesce(t.family, '')) END"                                \
    " FROM decision d LEFT JOIN run r ON r.run_id = d.run_id"                                      \
    " LEFT JOIN task t ON t.task_id = r.task_id"                                                   \
    " LEFT JOIN outcome o ON o.decision_id = d.decision_id AND o.is_confirmation = 0"              \
    " WHERE d.row IN "

#define INSERT_WORDS                                                                               \
    "INSERT INTO task_text(rowid, words)"                                                          \
    " SELECT row, name || ' ' || family || ' ' || features FROM task"

/* One after the other. */
enum { REFRESH_STEPS = 4 };
#define REFRESH(chosen)                                                                            \
    {                                                                                              \
        REMOVE_NEAR chosen, REMOVE_TEXT chosen, INSERT_TEXT chosen,                                \
            INSERT_NEAR " WHERE rowid IN " chosen                                                  \
    }
static const char *const refresh_sql[][REFRESH_STEPS] = {
    [TEXT_OF_DECISION] = REFRESH(CHOSEN_BY_DECISION),
    [TEXT_OF_RUN] = REFRESH(CHOSEN_BY_RUN),
    [TEXT_OF_TASK] = REFRESH(CHOSEN_BY_TASK),
};

static bool run_with_id(struct graph *graph, const char *sql, const char *id, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, id);
    return query_run(&query, err);
}

bool text_refresh(struct graph *graph, enum text_of of, const char *id, struct err *err)
{
    for (size_t i = 0; !graph->is_bulk && i < REFRESH_STEPS; i++) {
        if (!run_with_id(graph, refresh_sql[of][i], id, err))
            return false;
    }
    return true;
}

bool text_refresh_task(struct graph *graph, const char *task_id, struct err *err)
{
    static const char remove[] =
        "DELETE FROM task_text WHERE rowid = (SELECT row FROM task WHERE task_id = ?1)";
    static const char insert[] = INSERT_WORDS " WHERE task_id = ?1";
    if (graph->is_bulk)
        return true;
    return run_with_id(graph, remove, task_id, err) && run_with_id(graph, insert, task_id, err);
}

const char text_decisions_sql[] = INSERT_TEXT "(SELECT row FROM decision);";

/* In one piece, so that a term is looked for in one place. */
const char near_make_all[] =
    INSERT_NEAR ";INSERT INTO decision_near(decision_near) VALUES('optimize');";

const char text_tasks_sql[] = INSERT_WORDS ";";

bool text_is_word_char(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

char *text_match_any(const char *words, struct arena *arena)
{
    CLEANUP(buf_free) struct buf match = {0};
    size_t count = 0;
    for (const char *at = words; *at && count < MAX_WORDS;) {
        size_t length = 0;
        while (text_is_word_char(at[length]))
            length++;
        /* One letter alone matches everything and tells nothing. */
        if (length > 1 && length <= MAX_WORD_BYTES)
            (void)buf_printf(&match, "%s\"%.*s\"", count++ ? " OR " : "", (int)length, at);
        at += length ? length : 1;
    }
    return arena_strdup(arena, count ? buf_text(&match) : "\"\"");
}
