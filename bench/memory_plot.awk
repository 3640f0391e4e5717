# Rows of bench/memory as an SVG: two panels, both axes logarithmic. Fields: decisions, appends/s, CPU each, load s, journal MB, graph MB,
# open ms, p50 ms, p99 ms, memory MB, memory to load MB, beliefs ms, CPU ms.
function log10(x) { return log(x > 1e-9 ? x : 1e-9) / log(10) }
function at_x(panel, x) { return panel * 460 + 70 + (log10(x) - low_x) / (high_x - low_x) * 330 }
function at_y(panel, y) { return 340 - (log10(y) - low_y[panel]) / (high_y[panel] - low_y[panel]) * 290 }
function text(x, y, anchor, words) { printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, words }
function line(x1, y1, x2, y2, colour, width) {
  printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%s\"/>\n", x1, y1, x2, y2, colour, width
}
function frame(panel, title, unit,   e) {
  text(panel * 460 + 235, 28, "middle", title)
  for (e = low_x; e <= high_x; e++) {
    line(at_x(panel, 10 ^ e), 50, at_x(panel, 10 ^ e), 340, "#ddd", 1)
    text(at_x(panel, 10 ^ e), 358, "middle", "10<tspan dy=\"-5\" font-size=\"9\">" e "</tspan>")
  }
  text(panel * 460 + 235, 380, "middle", "decisions")
  for (e = low_y[panel]; e <= high_y[panel]; e++) {
    line(panel * 460 + 70, at_y(panel, 10 ^ e), panel * 460 + 400, at_y(panel, 10 ^ e), "#ddd", 1)
    text(panel * 460 + 62, at_y(panel, 10 ^ e) + 4, "end", 10 ^ e " " unit)
  }
}
function series(panel, field, name, colour,   i) {
  for (i = 1; i <= n; i++) {
    if (i > 1) line(at_x(panel, v[i - 1, 1]), at_y(panel, v[i - 1, field]), at_x(panel, v[i, 1]), at_y(panel, v[i, field]), colour, 2)
    printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>%s: %s</title></circle>\n", at_x(panel, v[i, 1]), at_y(panel, v[i, field]), colour, name, v[i, field]
  }
  printf "<g fill=\"%s\">", colour
  text(at_x(panel, v[n, 1]) - 4, at_y(panel, v[n, field]) - 9, "end", name)
  print "</g>"
}
function span(panel, fields,   list, count, i, j, y) {
  low_y[panel] = 99; high_y[panel] = -99
  count = split(fields, list, " ")
  for (i = 1; i <= n; i++) for (j = 1; j <= count; j++) {
    y = log10(v[i, list[j]])
    if (y < low_y[panel]) low_y[panel] = y
    if (y > high_y[panel]) high_y[panel] = y
  }
  low_y[panel] = int(low_y[panel] + 100) - 100
  high_y[panel] = int(high_y[panel] + 101) - 100
}
{ n++; for (f = 1; f <= NF; f++) v[n, f] = $f }
END {
  low_x = int(log10(v[1, 1])); high_x = int(log10(v[n, 1]) + 0.999)
  if (high_x <= low_x) high_x = low_x + 1
  span(0, "7 8 9"); span(1, "5 6 10 11")
  print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 920 395\" font-family=\"sans-serif\" font-size=\"12\">"
  print "<rect width=\"920\" height=\"395\" fill=\"white\"/>"
  frame(0, "time", "ms"); frame(1, "size", "MB")
  series(0, 9, "context, 99 %", "#b2182b"); series(0, 8, "context, median", "#2166ac"); series(0, 7, "opening", "#1b7837")
  series(1, 5, "journal", "#b2182b"); series(1, 6, "graph", "#2166ac"); series(1, 10, "memory", "#1b7837"); series(1, 11, "memory to load", "#762a83")
  print "</svg>"
}
