package apart;

import java.io.*;
import java.lang.reflect.Array;
import java.math.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.javatuples.*;

/** Values as text between the tests and the program: words with a tag, a line a message. */
public final class Channel {
    private static final int MAX_LINE = 64 << 20;
    private final InputStream source;
    private final OutputStream sink;

    public Channel() throws IOException {
        source = new BufferedInputStream(new FileInputStream("/proc/self/fd/3"));
        sink = new FileOutputStream("/proc/self/fd/4");
    }

    public synchronized void send(String kind, Object... values) throws IOException {
        StringBuilder line = new StringBuilder(kind);
        for (Object item : values) put(line, item, 0);
        sink.write(line.append('\n').toString().getBytes(StandardCharsets.US_ASCII));
        sink.flush();
    }

    /** Returns the kind of the next message and its values. */
    public synchronized List<Object> receive() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = source.read(); next != '\n'; next = source.read()) {
            if (next < 0 || line.size() > MAX_LINE) {
                throw new EOFException("the program ended before its tests");
            }
            line.write(next);
        }
        Iterator<String> words =
            Arrays.asList(line.toString(StandardCharsets.US_ASCII).split(" ")).iterator();
        List<Object> items = new ArrayList<>();
        items.add(words.next());
        while (words.hasNext()) items.add(get(words));
        return items;
    }

    private static void put(StringBuilder line, Object value, int depth) {
        line.append(' ');
        if (depth > 200) throw new IllegalArgumentException("a value is nested too deeply");
        if (value == null) line.append('N');
        else if (value instanceof Boolean) line.append('Z').append(value);
        else if (value instanceof Byte) line.append('B').append(value);
        else if (value instanceof Short) line.append('S').append(value);
        else if (value instanceof Integer) line.append('I').append(value);
        else if (value instanceof Long) line.append('J').append(value);
        else if (value instanceof Float) line.append('F').append(Float.floatToIntBits((Float) value));
        else if (value instanceof Double) {
            line.append('D').append(Double.doubleToLongBits((Double) value));
        } else if (value instanceof Character) line.append('C').append((int) (Character) value);
        else if (value instanceof String) text(line.append('"'), (String) value);
        else if (value.getClass() == BigInteger.class) line.append('i').append(value);
        else if (value.getClass() == BigDecimal.class) line.append('d').append(value);
        else if (value.getClass() == Optional.class) {
            items(line, "O", ((Optional<?>) value).stream().toArray(), depth);
        } else if (value.getClass().isArray()) array(line, value, depth);
        else if (value instanceof Tuple && value.getClass().getPackageName().equals("org.javatuples")) {
            items(line, "T", ((Tuple) value).toArray(), depth);
        } else if (library(value) && value instanceof Collection) {
            items(line, kind(value), ((Collection<?>) value).toArray(), depth);
        } else if (library(value) && value instanceof Map) {
            List<Object> pairs = new ArrayList<>();
            ((Map<?, ?>) value).forEach((key, item) -> Collections.addAll(pairs, key, item));
            items(line, kind(value), pairs.toArray(), depth);
        } else throw new IllegalArgumentException(value.getClass().getName() + " cannot be passed");
    }

    private static boolean library(Object value) {
        return value.getClass().getClassLoader() == null;
    }

    /** Returns the tag of a collection or map: the usual class that is nearest to its own. */
    private static String kind(Object value) {
        if (value instanceof LinkedList) return "LL";
        if (value instanceof ArrayDeque) return "LD";
        if (value instanceof PriorityQueue) return "LQ";
        if (value instanceof List) return "LA";
        if (value instanceof SortedSet) return "UT";
        if (value instanceof Set) return value instanceof HashSet ? "UH" : "UL";
        if (value instanceof Collection) return "LA";
        if (value instanceof SortedMap) return "MT";
        return value.getClass() == HashMap.class ? "MH" : "ML";
    }

    private static void array(StringBuilder line, Object value, int depth) {
        Object[] items = new Object[Array.getLength(value)];
        for (int at = 0; at < items.length; at++) items[at] = Array.get(value, at);
        if (!value.getClass().getName().matches("\\[+([A-Z]|Ljava\\.\\S+)")) {
            throw new IllegalArgumentException(value.getClass().getName() + " cannot be passed");
        }
        items(line, "A" + value.getClass().getComponentType().getName() + ":", items, depth);
    }

    private static void items(StringBuilder line, String tag, Object[] items, int depth) {
        line.append(tag).append(items.length);
        for (Object item : items) put(line, item, depth + 1);
    }

    private static void text(StringBuilder line, String value) {
        for (char sign : value.toCharArray()) {
            if (sign < 128 && Character.isLetterOrDigit(sign)) line.append(sign);
            else line.append(String.format("\\%04x", (int) sign));
        }
    }

    private static Object get(Iterator<String> words) {
        String word = words.next();
        String rest = word.substring(1);
        switch (word.charAt(0)) {
            case 'N': return null;
            case 'Z': return Boolean.valueOf(rest);
            case 'B': return Byte.valueOf(rest);
            case 'S': return Short.valueOf(rest);
            case 'I': return Integer.valueOf(rest);
            case 'J': return Long.valueOf(rest);
            case 'F': return Float.intBitsToFloat(Integer.parseInt(rest));
            case 'D': return Double.longBitsToDouble(Long.parseLong(rest));
            case 'C': return (char) Integer.parseInt(rest);
            case '"': return untext(rest);
            case 'i': return new BigInteger(rest);
            case 'd': return new BigDecimal(rest);
            case 'O': return Integer.parseInt(rest) == 0 ? Optional.empty() : Optional.of(get(words));
            case 'T': return Tuple.of(values(rest, words).toArray());
            case 'A': return toArray(rest, words);
            case 'L': return fill(list(rest.charAt(0)), values(rest.substring(1), words));
            case 'U': return fill(set(rest.charAt(0)), values(rest.substring(1), words));
            case 'M': return fill(map(rest.charAt(0)), values(rest.substring(1), words));
            default: throw new IllegalArgumentException("no value");
        }
    }

    private static String untext(String rest) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < rest.length(); at++) {
            if (rest.charAt(at) != '\\') text.append(rest.charAt(at));
            else {
                text.append((char) Integer.parseInt(rest.substring(at + 1, at + 5), 16));
                at += 4;
            }
        }
        return text.toString();
    }

    private static List<Object> values(String count, Iterator<String> words) {
        List<Object> items = new ArrayList<>();
        for (int left = Integer.parseInt(count); left > 0; left--) items.add(get(words));
        return items;
    }

    private static Collection<Object> list(char kind) {
        switch (kind) {
            case 'L': return new LinkedList<>();
            case 'D': return new ArrayDeque<>();
            case 'Q': return new PriorityQueue<>();
            default: return new ArrayList<>();
        }
    }

    private static Collection<Object> set(char kind) {
        switch (kind) {
            case 'T': return new TreeSet<>();
            case 'H': return new HashSet<>();
            default: return new LinkedHashSet<>();
        }
    }

    private static Map<Object, Object> map(char kind) {
        switch (kind) {
            case 'T': return new TreeMap<>();
            case 'H': return new HashMap<>();
            default: return new LinkedHashMap<>();
        }
    }

    private static Object fill(Collection<Object> container, List<Object> items) {
        container.addAll(items);
        return container;
    }

    private static Object fill(Map<Object, Object> container, List<Object> items) {
        for (int at = 0; at + 1 < items.size(); at += 2) container.put(items.get(at), items.get(at + 1));
        return container;
    }

    private static Object toArray(String rest, Iterator<String> words) {
        int colon = rest.indexOf(':');
        List<Object> items = values(rest.substring(colon + 1), words);
        Object container = Array.newInstance(type(rest.substring(0, colon)), items.size());
        for (int at = 0; at < items.size(); at++) Array.set(container, at, items.get(at));
        return container;
    }

    private static Class<?> type(String name) {
        for (Class<?> primitive : new Class<?>[] {boolean.class, byte.class, short.class, int.class,
            long.class, float.class, double.class, char.class}) {
            if (primitive.getName().equals(name)) return primitive;
        }
        try {
            if (name.startsWith("java.") || name.matches("\\[+([A-Z]|Ljava\\.\\S+)")) {
                return Class.forName(name);
            }
        } catch (ClassNotFoundException exc) {
            throw new IllegalArgumentException(exc);
        }
        throw new IllegalArgumentException(name);
    }
}
