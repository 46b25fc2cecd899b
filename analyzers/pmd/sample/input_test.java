package org.example.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SessionTest {
    @Test
    void namesItsUser() {
        Session session = new Session("ada");
        assertEquals("2020-01-01", session.day(null));
    }

    @Test
    private void closes() {
        assertTrue(true);
    }
}
