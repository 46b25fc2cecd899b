package sample;

import java.util.List; // NOPMD
import java.util.Map; // NOPMD - not used yet

/** Asks PMD to look away in every way there is. */
@SuppressWarnings("all")
public class NoPmd { // NOPMD

    private int spare; // NOPMD

    @SuppressWarnings ("unused")
    private int spaced;

    @SuppressWarnings/**/("unused")
    private int commented;

    @java.lang.SuppressWarnings("all")
    private int qualified;

    @SuppressWarnings("PMD")
    private int hidden() { // NOPMD
        return 1;
    }

    @SuppressWarnings({
        "PMD.UnusedLocalVariable",
        "unused"
    })
    public void close(AutoCloseable handle) {
        int count = 0; // NOPMD
        try {
            handle.close();
        } catch (Exception e) { } // NOPMD
    }

    // #lizard forgives
    /* GENERATED CODE */
    public int place(int a, int b, int c, int d, int e, int f, int g, int h) { // NOPMD
        return a + b + c + d + e + f + g + h;
    }
}
