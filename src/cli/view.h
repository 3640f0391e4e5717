/* What a person sees while a command runs: a live block on a terminal, plain lines elsewhere, JSON
 * lines on request. */
#ifndef KOPE_CLI_VIEW_H
#define KOPE_CLI_VIEW_H

#include "engine/engine.h"

#include <stdbool.h>
#include <stdint.h>

enum view_mode { VIEW_QUIET, VIEW_PLAIN, VIEW_LIVE, VIEW_JSON };

enum { VIEW_RECENT = 6 };

struct view {
    enum view_mode mode;
    bool colour;
    int lines; /* drawn by the last frame, to be drawn over */
    char recent[VIEW_RECENT][192];
    int recent_count;
    char stage[160];
    char remembered[192];
    double curve[512]; /* best speedup after each evaluation */
    int curve_count;
};

struct view view_make(bool json, bool quiet);
struct observer view_observer(struct view *view);
/* Ends the live block so that results can be printed under it. */
void view_finish(struct view *view);

#endif
