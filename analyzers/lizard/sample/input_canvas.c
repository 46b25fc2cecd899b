/* Draws text; the caller says everything about it. */
#include "canvas.h"

static int clamp(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

int draw_text(struct canvas *canvas, const char *text, int x, int y, int width, int height,
              int colour, int style) {
    return canvas_put(canvas, text, clamp(x, 0, width), clamp(y, 0, height), colour, style);
}
