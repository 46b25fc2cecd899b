package apart;

import java.io.*;
import java.lang.reflect.*;
import java.util.*;

/** The tests' process: its classes call the program's functions by {@link #call}. */
public final class Tests {
    private static Channel channel;

    private Tests() {}

    public static void main(String[] arguments) throws Throwable {
        PrintStream errors = System.err;
        channel = new Channel();
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        Method tests = null;
        for (String name : arguments) {
            Class<?> type = Class.forName(name);
            try {
                tests = type.getDeclaredMethod("main", String[].class);
            } catch (NoSuchMethodException exc) {
                continue;
            }
        }
        List<Object> loaded = channel.receive();
        errors.println("started");
        try {
            if (!loaded.get(0).equals("value")) throw new Exception(String.valueOf(loaded.get(1)));
            if (tests == null) throw new Exception("the tests have no main method");
            tests.setAccessible(true);
            tests.invoke(null, (Object) new String[0]);
        } catch (InvocationTargetException exc) {
            errors.println(exc.getCause());
            Runtime.getRuntime().halt(1);
        } catch (Throwable exc) {
            errors.println(exc.getMessage());
            Runtime.getRuntime().halt(1);
        }
        System.exit(0);
    }

    /** Calls a function of the program, and gives the arguments the content that it left in them. */
    public static Object call(String owner, String name, Object... values) {
        try {
            Object[] whole = new Object[values.length + 2];
            whole[0] = owner;
            whole[1] = name;
            System.arraycopy(values, 0, whole, 2, values.length);
            channel.send("call", whole);
            List<Object> answer = channel.receive();
            if (!answer.get(0).equals("value")) {
                throw Tests.<RuntimeException>raised(answer);
            }
            for (int at = 0; at < values.length; at++) {
                try {
                    update(values[at], answer.get(at + 2));
                } catch (UnsupportedOperationException exc) {
                    continue;  // such as List.of: it cannot have changed
                }
            }
            return answer.get(1);
        } catch (IOException exc) {
            throw new IllegalStateException(exc.getMessage());
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T raised(List<Object> answer) throws T {
        String text = String.valueOf(answer.get(1));
        String name = String.valueOf(answer.get(2));
        Throwable error = new RuntimeException(name + ": " + text);
        try {
            Class<?> type = name.startsWith("java.") ? Class.forName(name) : RuntimeException.class;
            if (Throwable.class.isAssignableFrom(type)) {
                error = (Throwable) type.getConstructor(String.class).newInstance(text);
            }
        } catch (ReflectiveOperationException exc) {
            throw (T) error;
        }
        throw (T) error;
    }

    @SuppressWarnings("unchecked")
    private static void update(Object old, Object changed) {
        if (old == null || changed == null || old.equals(changed)) return;
        if (old.getClass().isArray() && changed.getClass() == old.getClass()) {
            int size = Math.min(Array.getLength(old), Array.getLength(changed));
            System.arraycopy(changed, 0, old, 0, size);
        } else if (old instanceof Collection && changed instanceof Collection) {
            ((Collection<Object>) old).clear();
            ((Collection<Object>) old).addAll((Collection<Object>) changed);
        } else if (old instanceof Map && changed instanceof Map) {
            ((Map<Object, Object>) old).clear();
            ((Map<Object, Object>) old).putAll((Map<Object, Object>) changed);
        }
    }
}
