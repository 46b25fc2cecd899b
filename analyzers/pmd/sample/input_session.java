package org.example.web;

import java.lang.reflect.Field;
import java.text.SimpleDateFormat;
import java.util.Arrays;
import java.util.Date;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One visitor's session. */
public class Session implements Comparable<Session> {
    private static final Logger LOG = LoggerFactory.getLogger(Session.class);
    private static final SimpleDateFormat DAY = new SimpleDateFormat("yyyy-MM-dd");
    private static final String GUEST = "guest";
    private static Session current;
    private static Object settings;
    private final String user;

    public Session(String user) {
        this.user = user;
    }

    public static Session getInstance() {
        if (current == null) {
            current = new Session(GUEST);
        }
        return current;
    }

    public static Object settings() {
        if (settings == null) {
            synchronized (Session.class) {
                if (settings == null) {
                    settings = new Object();
                }
            }
        }
        return settings;
    }

    public String day(Date date) {
        LOG.debug("day of " + user + " is " + date);
        return DAY.format(date);
    }

    public void refresh(Thread worker) {
        worker.run();
        synchronized (this) {
            notify();
        }
    }

    public byte[] seal(byte[] text) throws Exception {
        SecretKeySpec key = new SecretKeySpec("0123456789abcdef".getBytes("UTF-8"), "AES");
        IvParameterSpec start = new IvParameterSpec(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6});
        Cipher cipher = Cipher.getInstance("AES/CBC/PKCS5Padding");
        cipher.init(Cipher.ENCRYPT_MODE, key, start);
        return cipher.doFinal(text);
    }

    public void expose(Field field) {
        field.setAccessible(true);
    }

    public boolean equal(Object other) {
        return other == this;
    }

    public int hashcode() {
        return Arrays.hashCode(new Object[] {user});
    }

    public int compareTo(Session other) {
        return user.compareTo(other.user);
    }

    public boolean isNamed(String name) {
        return user.toUpperCase().equals(name) || user.equals("root");
    }

    @Override
    protected Session clone() {
        return new Session(user);
    }

    public int load(String name) {
        try {
            return Integer.parseInt(name);
        } catch (NumberFormatException e) {
            LOG.warn("bad number", e);
        } catch (IllegalStateException e) {
            LOG.warn("bad number", e);
        }
        return 0;
    }
}

class Address {
    private String city;

    Address() {
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Address && ((Address) other).city.equals(city);
    }

    @Override
    public String toString() {
        return super.toString();
    }

    void move(String to) {
        city = to;
    }
}

class Meter {
    private int step;

    int advance(int by) {
        step = by * 2;
        return step + 1;
    }
}

class Paths {
    static String join(String left, String right) {
        return left + "/" + right;
    }

    static String parent(String path) {
        return path.substring(0, path.lastIndexOf('/'));
    }
}
