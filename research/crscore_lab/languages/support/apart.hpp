// Values as text between the tests and the program: words separated by blanks, a line a message.
// Numbers in decimal or hexadecimal notation, strings by the codes of their bytes, containers by
// their size and their items. Included before everything else by both sides.
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace crscore_apart {

template <class T, class = void> struct Text;  // a type without a definition here cannot cross

struct Line {
    std::string text;
    size_t at = 0;
    std::string word() {
        if (at >= text.size()) throw std::runtime_error("the program's answer is cut off");
        size_t end = text.find(' ', at);
        if (end == std::string::npos) end = text.size();
        std::string word = text.substr(at, end - at);
        at = end + 1;
        return word;
    }
    void add(const std::string& word) { text += word; text += ' '; }
    size_t count() { return std::stoul(word()); }
};

template <class T> void put(Line& line, const T& value) { Text<std::decay_t<T>>::put(line, value); }
template <class T> std::decay_t<T> get(Line& line) { return Text<std::decay_t<T>>::get(line); }

template <class T> struct Text<T, std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>>> {
    static void put(Line& line, T value) {
        if (std::is_signed_v<T>) line.add(std::to_string((long long)value));
        else line.add(std::to_string((unsigned long long)value));
    }
    static T get(Line& line) {
        std::string word = line.word();
        return std::is_signed_v<T> ? (T)std::stoll(word) : (T)std::stoull(word);
    }
};
template <class T> struct Text<T, std::enable_if_t<std::is_floating_point_v<T>>> {
    static void put(Line& line, T value) {
        char text[64];
        std::snprintf(text, sizeof text, "%La", (long double)value);
        line.add(text);
    }
    static T get(Line& line) { return (T)std::strtold(line.word().c_str(), nullptr); }
};
template <> struct Text<std::string> {
    static void put(Line& line, const std::string& value) {
        std::string word = "s";
        for (unsigned char item : value) {
            word += "0123456789abcdef"[item >> 4];
            word += "0123456789abcdef"[item & 15];
        }
        line.add(word);
    }
    static std::string get(Line& line) {
        std::string word = line.word(), result;
        for (size_t at = 1; at + 1 < word.size(); at += 2)
            result += (char)std::stoi(word.substr(at, 2), nullptr, 16);
        return result;
    }
};
template <class T> struct Items {
    static void put(Line& line, const T& value) {
        line.add(std::to_string(value.size()));
        for (const auto& item : value) crscore_apart::put(line, (typename T::value_type)item);
    }
    static T get(Line& line) {
        T result;
        for (size_t left = line.count(); left > 0; --left)
            result.insert(result.end(), crscore_apart::get<typename T::value_type>(line));
        return result;
    }
};
template <class T> struct Pairs {
    static void put(Line& line, const T& value) {
        line.add(std::to_string(value.size()));
        for (const auto& [key, item] : value) {
            crscore_apart::put(line, key);
            crscore_apart::put(line, item);
        }
    }
    static T get(Line& line) {
        T result;
        for (size_t left = line.count(); left > 0; --left) {
            auto key = crscore_apart::get<typename T::key_type>(line);
            result.emplace(std::move(key), crscore_apart::get<typename T::mapped_type>(line));
        }
        return result;
    }
};
template <class T, class A> struct Text<std::vector<T, A>> : Items<std::vector<T, A>> {};
template <class T> struct Text<std::deque<T>> : Items<std::deque<T>> {};
template <class T> struct Text<std::list<T>> : Items<std::list<T>> {};
template <class T> struct Text<std::set<T>> : Items<std::set<T>> {};
template <class T> struct Text<std::multiset<T>> : Items<std::multiset<T>> {};
template <class T> struct Text<std::unordered_set<T>> : Items<std::unordered_set<T>> {};
template <class K, class V> struct Text<std::map<K, V>> : Pairs<std::map<K, V>> {};
template <class K, class V>
struct Text<std::unordered_map<K, V>> : Pairs<std::unordered_map<K, V>> {};
template <class... T> struct Text<std::tuple<T...>> {
    static void put(Line& line, const std::tuple<T...>& value) {
        std::apply([&](const auto&... item) { (crscore_apart::put(line, item), ...); }, value);
    }
    static std::tuple<T...> get(Line& line) { return std::tuple<T...>{crscore_apart::get<T>(line)...}; }
};
template <class A, class B> struct Text<std::pair<A, B>> {
    static void put(Line& line, const std::pair<A, B>& value) {
        crscore_apart::put(line, value.first);
        crscore_apart::put(line, value.second);
    }
    static std::pair<A, B> get(Line& line) {
        A first = crscore_apart::get<A>(line);
        return {std::move(first), crscore_apart::get<B>(line)};
    }
};
template <class T> struct Text<std::optional<T>> {
    static void put(Line& line, const std::optional<T>& value) {
        line.add(value ? "1" : "0");
        if (value) crscore_apart::put(line, *value);
    }
    static std::optional<T> get(Line& line) {
        if (line.word() != "1") return std::nullopt;
        return crscore_apart::get<T>(line);
    }
};
template <> struct Text<std::nullopt_t> {
    static void put(Line&, std::nullopt_t) {}
    static std::nullopt_t get(Line&) { return std::nullopt; }
};
template <> struct Text<std::monostate> {
    static void put(Line&, std::monostate) {}
    static std::monostate get(Line&) { return {}; }
};

inline void send(const std::string& text) {
    std::string whole = text + "\n";
    for (size_t sent = 0; sent < whole.size();) {
        ssize_t wrote = ::write(4, whole.data() + sent, whole.size() - sent);
        if (wrote <= 0) throw std::runtime_error("the program ended before its tests");
        sent += wrote;
    }
}
inline Line receive() {
    static std::string rest;
    for (;;) {
        size_t end = rest.find('\n');
        if (end != std::string::npos) {
            Line line{rest.substr(0, end)};
            rest.erase(0, end + 1);
            return line;
        }
        char more[65536];
        ssize_t read = ::read(3, more, sizeof more);
        if (read <= 0 || rest.size() > (64u << 20))
            throw std::runtime_error("the program ended before its tests");
        rest.append(more, read);
    }
}

// An argument whose changes the caller sees is read back.
template <class T> void update(Line& line, T& value) { value = get<std::remove_const_t<T>>(line); }
template <class T> void update(Line& line, const T&) { get<T>(line); }

// In the tests: `which` is the number of the function.
template <class R, class... A> R call(int which, A&... arguments) {
    Line line;
    line.add(std::to_string(which));
    (put(line, arguments), ...);
    send(line.text);
    Line answer = receive();
    if (answer.word() != "value") throw std::runtime_error(get<std::string>(answer));
    if constexpr (std::is_void_v<R>) {
        (update(answer, arguments), ...);
    } else {
        std::decay_t<R> result = get<R>(answer);
        (update(answer, arguments), ...);
        return result;
    }
}
struct Tests {
    Tests() {
        ::signal(SIGPIPE, SIG_IGN);
        receive();
        if (::write(2, "started\n", 8) != 8) std::abort();
    }
};

// In the program.
template <class A> A pass(std::decay_t<A>& item) {
    if constexpr (std::is_reference_v<A>) return static_cast<A>(item);
    else return item;
}
template <class R, class... A> std::string answer(R (*function)(A...), Line& line) {
    Line result;
    try {
        std::tuple<std::decay_t<A>...> arguments{get<A>(line)...};
        result.add("value");
        std::apply(
            [&](auto&... item) {
                if constexpr (std::is_void_v<R>) function(pass<A>(item)...);
                else put(result, function(pass<A>(item)...));
                (put(result, item), ...);
            },
            arguments);
    } catch (const std::exception& error) {
        result.text = "raised ";
        put(result, std::string(error.what()));
    } catch (...) {
        result.text = "raised s ";
    }
    return result.text;
}

}  // namespace crscore_apart
