package org.javatuples;

import java.util.*;

/** Fixed number of values: the part of the library of this name that tests and programs use. */
public abstract class Tuple implements Iterable<Object>, Comparable<Tuple>, java.io.Serializable {
    private final Object[] values;

    Tuple(Object... values) {
        this.values = values;
    }

    /** Makes the tuple that has as many values as there are. */
    public static Tuple of(Object... values) {
        switch (values.length) {
            case 1: return new Unit<>(values[0]);
            case 2: return new Pair<>(values[0], values[1]);
            case 3: return new Triplet<>(values[0], values[1], values[2]);
            case 4: return new Quartet<>(values[0], values[1], values[2], values[3]);
            case 5: return new Quintet<>(values[0], values[1], values[2], values[3], values[4]);
            default: throw new IllegalArgumentException("a tuple of " + values.length);
        }
    }

    @SuppressWarnings("unchecked")
    final <T> T at(int place) {
        return (T) values[place];
    }

    final Object[] with(int place, Object value) {
        Object[] changed = values.clone();
        changed[place] = value;
        return changed;
    }

    public abstract int getSize();

    public final Object getValue(int place) {
        return values[place];
    }

    public final boolean contains(Object value) {
        return Arrays.asList(values).contains(value);
    }

    public final boolean containsAll(Collection<?> collection) {
        return Arrays.asList(values).containsAll(collection);
    }

    public final int indexOf(Object value) {
        return Arrays.asList(values).indexOf(value);
    }

    public final int lastIndexOf(Object value) {
        return Arrays.asList(values).lastIndexOf(value);
    }

    public final List<Object> toList() {
        return new ArrayList<>(Arrays.asList(values));
    }

    public final Object[] toArray() {
        return values.clone();
    }

    @Override
    public final Iterator<Object> iterator() {
        return toList().iterator();
    }

    @Override
    public final String toString() {
        return Arrays.toString(values);
    }

    @Override
    public final int hashCode() {
        return Arrays.hashCode(values);
    }

    @Override
    public final boolean equals(Object other) {
        return other != null && getClass() == other.getClass()
            && Arrays.equals(values, ((Tuple) other).values);
    }

    @Override
    @SuppressWarnings("unchecked")
    public final int compareTo(Tuple other) {
        for (int at = 0; at < Math.min(values.length, other.values.length); at++) {
            int order = ((Comparable<Object>) values[at]).compareTo(other.values[at]);
            if (order != 0) return order;
        }
        return Integer.compare(values.length, other.values.length);
    }
}
