#include "stats/stats.h"

#include <math.h>

#define LEAST_SPREAD 1e-12

static double belief_of(double predicted)
{
    return predicted > 0.0 ? 1.0 : predicted < 0.0 ? 0.0 : 0.5;
}

struct stats_calibration stats_calibrate(const double *predicted, const double *measured,
                                         size_t count)
{
    struct stats_calibration out = {0};
    double cross = 0.0;
    double spread = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(predicted[i]) || !isfinite(measured[i]))
            continue;
        const double miss = belief_of(predicted[i]) - (measured[i] > 0.0 ? 1.0 : 0.0);
        out.count++;
        out.brier += miss * miss;
        out.mean_abs_error += fabs(predicted[i] - measured[i]);
        out.mean_predicted += predicted[i];
        out.mean_measured += measured[i];
    }
    if (out.count == 0)
        return out;
    const double n = (double)out.count;
    out.brier /= n;
    out.mean_abs_error /= n;
    out.mean_predicted /= n;
    out.mean_measured /= n;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(predicted[i]) || !isfinite(measured[i]))
            continue;
        const double x = predicted[i] - out.mean_predicted;
        cross += x * (measured[i] - out.mean_measured);
        spread += x * x;
    }
    out.has_slope = out.count >= 3 && spread > LEAST_SPREAD * n;
    out.slope = out.has_slope ? cross / spread : 0.0;
    return out;
}
