/* #lizard forgive global */
/* GENERATED CODE */
// #lizard forgives(parameter_count)
int place(int a, int b, int c, int d, int e, int f, int g, int h) { /* #lizard forgives */
    // #lizard forgives the length
    return a + b + c + d + e + f + g + h;
}
