package org.example.ledger;

import java.io.FileReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.*;
import java.util.stream.Stream;
import java.util.stream.Stream;

/** Reads bookings and adds them up. */
public class Ledger {
    private static final BigDecimal RATE = new BigDecimal(0.19);
    private static int opened;
    private final int limit = 0750;
    private final String currency = "EUR";
    private final Map<Integer, String> names = new HashMap<>();
    private BigInteger ten = new BigInteger("10");
    private HashMap<String, Integer> counts = new HashMap<>();
    private String unused;
    private int last;

    public Ledger() {
        opened = 1;
        describe();
    }

    public void describe() {
        last = names.size();
        System.out.println(last);
    }

    public String read(Path path) {
        try {
            InputStream in = Files.newInputStream(path);
            return String.valueOf(in.read());
        } catch (IOException e) {
            throw new IllegalStateException("cannot read " + path);
        }
    }

    public Reader open(String name) throws IOException {
        return new FileReader(name);
    }

    public BigDecimal first(Connection connection) throws SQLException {
        ResultSet rows = connection.createStatement().executeQuery("select amount from booking");
        rows.next();
        return rows.getBigDecimal(1).multiply(RATE);
    }

    public void close(AutoCloseable resource) {
        try {
            resource.close();
        } catch (NullPointerException e) {
            describe();
        } catch (Exception e) {
        }
    }

    public void run(Runnable task) {
        try {
            task.run();
        } catch (IllegalStateException e) {
            e = new IllegalStateException(e);
            e.printStackTrace();
        } catch (Throwable t) {
            System.err.println(t);
        }
    }

    public int total(int[] amounts, int start) {
        int sum = 0;
        int spare = start;
        for (int i = 0; i < amounts.length; i++) {
            sum += amounts[i];
        }
        return sum;
    }

    public int count(Path path) {
        try {
            return (int) Files.size(path);
        } catch (IOException e) {
            return -1;
        } finally {
            return 0;
        }
    }

    public void check(Path path) throws IOException {
        try {
            Files.size(path);
        } catch (IOException e) {
            throw e;
        } finally {
            throw new IllegalStateException("never closed");
        }
    }

    public List<String> find(String name) {
        if (name == null) {
            return null;
        }
        List<String> found = new ArrayList<>();
        found.add(name.toLowerCase());
        return found;
    }

    public boolean isOpen(String state) {
        if (state == "open" || state.equals(null)) {
            return true;
        }
        return state.equals("reopened");
    }

    public boolean matches(String left, String right) {
        if (left == null && left.length() > 0) {
            return false;
        }
        if (right != null || right.length() > 0) {
            return true;
        }
        if (left.length() > 0 && left != null) {
            return true;
        }
        return left.toUpperCase().equals("EUR");
    }

    public boolean isEmpty(Object entry) {
        if (entry != null && entry instanceof String) {
            return true;
        } else {
            return false;
        }
    }

    public Integer[] toArray(List<Integer> numbers) {
        if (numbers.size() == 0) {
            return new Integer[0];
        }
        Integer[] copy = (Integer[]) numbers.toArray();
        Integer[] other = numbers.toArray(new Integer[numbers.size()]);
        return copy == other ? copy : other;
    }

    public void forget(String name) {
        names.remove(name);
        name.trim();
        last = last;
        return;
    }

    public String render(List<String> parts) {
        String text = "";
        for (String part : parts) {
            text += part;
        }
        String title = new String("Ledger");
        text = text + String.valueOf(last) + title;
        if (text.trim().isEmpty()) {
            System.gc();
        }
        return text;
    }

    public int price(int kind) {
        int price = 0;
        switch (kind) {
            case 1:
                price = 10;
            case 2:
                price = 20;
                break;
        }
        if (kind == 3) {
            price = 7;
        } else {
            price = 7;
        }
        if (true) {
            price++;
        }
        return price;
    }

    public void spread(double[][] grid) {
        for (int i = 0; i < grid.length; i++) {
            for (int j = 0; j < grid[i].length; i++) {
                grid[i][j] = Double.NaN;
            }
        }
        for (double[] row : grid) {
            if (row[0] == Double.NaN) continue;
            System.out.println(row[0]);
            break;
        }
    }

    public int parse(String text) {
        int number;
        if ((number = text.indexOf(',')) > 0) {
            ;
        }
        while (number > 3) { }
        Integer boxed = new Integer(number);
        BigInteger one = BigInteger.valueOf(1);
        int plain = Integer.valueOf(text);
        return boxed.intValue() + one.intValue() + plain;
    }

    public Map<String, Integer> defaults() {
        return new HashMap<String, Integer>() {{
            put("limit", limit);
        }};
    }

    public String join(String prefix) {
        String joined = prefix + currency + "\18";
        return joined;
    }

    public String format(Object... values) {
        return String.format("%s %s", values);
    }

    public String formatAll(String[] names) {
        return format(names);
    }

    public byte[] encode(String text) throws IOException {
        return text.getBytes("UTF-8");
    }

    private void audit(String entry) {
        System.out.println(counts.get(entry));
    }

    private int scale(int amount, int factor) {
        return ten.intValue() * amount;
    }

    public int doubled(int amount) {
        return scale(amount, 2) + Objects.hash(amount, Stream.of(amount));
    }
}
