"""One realistic small change in each language that has a grammar: all that is told."""

import pytest

from crscore.syntax.grammars import languages_known
from tests.helpers.changes import change, texts

# Language -> path, change (`-` is the old version, `+` the new one), sentences
CASES: dict[str, tuple[str, str, list[str]]] = {
    "python": ("pool.py", '''
 class Pool:
     """Workers that wait for jobs."""

-    def take(self, timeout: float = 1.0) -> Worker:
+    def take(self, timeout: float = 5.0) -> Worker:
-        if not self.free:
+        if not self.free or self.closed:
             raise PoolEmpty("no worker is free")
-        return self.free.pop()
+        return self.free.popleft()
''', [
        "The default of `timeout` in the function `Pool.take` in `pool.py` is now `5.0` "
        "instead of `1.0`.",
        "The condition `not self.free` in the function `Pool.take` is now `not self.free or "
        "self.closed`.",
        "The function `Pool.take` now returns `self.free.popleft()` instead of `self.free.pop()`.",
        "`timeout` is now `5.0` instead of `1.0`: "
        "what hangs that much longer when no answer comes?",
    ]),
    "cython": ("fast.pyx", """
 def total(values):
-    result = sum(values)
+    result = sum(values, start)
     return result
""", [
        "The call to `sum` in the function `total` in `fast.pyx` now also passes `start`.",
    ]),
    "java": ("src/main/java/Store.java", """
 class Store {
-  private final Map<String, User> users = new HashMap<>();
+  private final Map<String, User> users = new ConcurrentHashMap<>();

   User find(String name) {
+    if (name == null) {
+      throw new IllegalArgumentException("a name is required");
+    }
     return users.get(name);
   }
 }
""", [
        "The method `Store.find` in `src/main/java/Store.java` now raises "
        "`IllegalArgumentException` with the message “a name is required”.",
        "`users` in the class `Store` in `src/main/java/Store.java` is now `new "
        "ConcurrentHashMap<>()` instead of `new HashMap<>()`.",
        "The method `Store.find` now checks `name == null`.",
    ]),
    "javascript": ("lib/client.js", """
-const retries = 3;
+const retries = 5;

-async function load(url) {
+async function load(url, options) {
-  const answer = await fetch(url);
+  const answer = await fetch(url, options);
+  if (!answer.ok) {
+    throw new LoadError(answer.status);
+  }
   return answer.json();
 }
""", [
        "The function `load` in `lib/client.js` takes the new parameter `options`.",
        "`retries` in `lib/client.js` is now `5` instead of `3`.",
        "`retries` is now `5` instead of `3`: how long do all attempts take together?",
        "The function `load` now raises `LoadError`.",
        "The function `load` now checks `!answer.ok`.",
        "The call to `fetch` in the function `load` now also passes `options`.",
    ]),
    "jsx": ("Button.jsx", """
-export function Button({ label }) {
+export function Button({ label, onClick }) {
-  return <button className="plain">{label}</button>;
+  return <button className="plain" onClick={onClick}>{label}</button>;
 }
""", [
        "The function `Button` in `Button.jsx` now takes `{ label, onClick }` instead of `{ "
        "label }`.",
        'The function `Button` now returns `<button className="plain" '
        "onClick={onClick}>{label}</button>` instead of `<button "
        'className="plain">{label}</button>`.',
    ]),
    "typescript": ("src/user.ts", """
 export interface User {
   name: string;
+  mail?: string;
 }

 export class Users {
   private all: User[] = [];

-  add(user: User): void {
+  add(user: User): number {
     this.all.push(user);
+    return this.all.length;
   }
 }
""", [
        "The method `Users.add` in `src/user.ts` now returns `this.all.length`.",
        "The interface `User` in `src/user.ts` now has `mail`.",
    ]),
    "tsx": ("List.tsx", """
 export const List: FC<Props> = ({ items }) => {
-  const shown = items.slice(0, 10);
+  const shown = useMemo(() => items.filter(isOpen), [items]);
   return <ul>{shown.map(render)}</ul>;
 };
""", [
        "`shown` in the function `List` in `List.tsx` is now `useMemo(() => "
        "items.filter(isOpen), [items])` instead of `items.slice(0, 10)`.",
    ]),
    "go": ("store.go", """
 package store

-func (s *Store) Load(id string) (*User, error) {
+func (s *Store) Load(ctx context.Context, id string) (*User, error) {
-    row := s.db.QueryRow(query, id)
+    row := s.db.QueryRowContext(ctx, query, id)
+    if row.Err() != nil {
+        return nil, row.Err()
+    }
     return scan(row), nil
 }
""", [
        "The method `Store.Load` in `store.go` takes the new parameter `ctx`.",
        "The method `Store.Load` now checks `row.Err() != nil`.",
        "The method `Store.Load` now returns `nil, row.Err()`.",
        "`row` in the method `Store.Load` is now `s.db.QueryRowContext(ctx, query, id)` "
        "instead of `s.db.QueryRow(query, id)`.",
    ]),
    "c": ("src/list.c", """
-#define MAX_ITEMS 16
+#define MAX_ITEMS 64

 int list_add(struct list *l, int value)
 {
+    if (l->length >= MAX_ITEMS)
+        return -ENOMEM;
     l->items[l->length++] = value;
     return 0;
 }
""", [
        "The function `list_add` in `src/list.c` now checks `l->length >= MAX_ITEMS`.",
        "`MAX_ITEMS` in `src/list.c` is now `64` instead of `16`.",
        "The function `list_add` now returns `-ENOMEM`.",
    ]),
    "cpp": ("src/cache.cpp", """
 namespace store {
 template <typename T>
 class Cache {
  public:
   void put(const std::string& key, T value) {
+    std::lock_guard<std::mutex> lock(mutex_);
-    items_[key] = value;
+    items_[key] = std::move(value);
+  }
+
+  void clear() noexcept {
+    items_.clear();
   }
 };
 }
""", [
        "`items_[key]` in the function `Cache.put` in `src/cache.cpp` is now "
        "`std::move(value)` instead of `value`.",
        "The new function `Cache.clear` in `src/cache.cpp` (3 lines) has been added.",
        "The function `Cache.put` now has the line `std::lock_guard<std::mutex> lock(mutex_)`.",
    ]),
    "cuda": ("sum.cu", """
-__global__ void add(float *a, float *b) {
+__global__ void add(float *a, float *b, int n) {
-  int i = threadIdx.x;
+  int i = blockIdx.x * blockDim.x + threadIdx.x;
+  if (i < n) {
-  a[i] += b[i];
+    a[i] += b[i];
+  }
 }
""", [
        "The function `add` in `sum.cu` takes the new parameter `n`.",
        "The function `add` now checks `i < n`.",
        "`i` in the function `add` is now `blockIdx.x * blockDim.x + threadIdx.x` instead of "
        "`threadIdx.x`.",
    ]),
    "csharp": ("Users.cs", """
 namespace Shop;

 public class Users
 {
-    public User Find(int id)
+    public async Task<User> Find(int id, CancellationToken token = default)
     {
-        return db.Users.First(u => u.Id == id);
+        return await db.Users.FirstOrDefaultAsync(u => u.Id == id, token);
     }
 }
""", [
        "The method `Users.Find` in `Users.cs` takes the new optional parameter `token`.",
        "The method `Users.Find` now returns `await db.Users.FirstOrDefaultAsync(u => u.Id == "
        "id, token)` instead of `db.Users.First(u => u.Id == id)`.",
    ]),
    "php": ("src/Mailer.php", """
 <?php

 class Mailer
 {
-    private $sender = 'shop';
+    private $sender = 'store';

-    public function send($to, $text)
+    public function send($to, $text, $copy = null)
     {
+        if (empty($to)) {
+            throw new InvalidArgumentException('nobody to write to');
+        }
         return mail($to, $text);
     }
 }
""", [
        "The method `Mailer.send` in `src/Mailer.php` takes the new optional parameter `copy`.",
        "`$sender` in the class `Mailer` in `src/Mailer.php` is now `'store'` instead of "
        "`'shop'`.",
        "The method `Mailer.send` now raises `InvalidArgumentException` with the message "
        "“nobody to write to”.",
        "The method `Mailer.send` now checks `empty($to)`.",
    ]),
    "ruby": ("lib/mailer.rb", """
 module Shop
   class Mailer
-    def deliver(mail)
+    def deliver(mail, retries: 3)
+      return if mail.empty?
       connection.send(mail)
+    rescue Net::ReadTimeout => e
+      retry if (retries -= 1).positive?
     end
   end
 end
""", [
        "The method `Mailer.deliver` in `lib/mailer.rb` takes the new optional parameter "
        "`retries`.",
        "The method `Mailer.deliver` now catches `Net::ReadTimeout`.",
        "The method `Mailer.deliver` now checks `mail.empty?` and `(retries -= 1).positive?`.",
    ]),
}  # fmt: skip


def versions(marked: str) -> tuple[str, str]:
    lines = marked.strip("\n").split("\n")
    old, new = ([line[1:] for line in lines if line[:1] != sign] for sign in "+-")
    return "\n".join(old) + "\n", "\n".join(new) + "\n"


@pytest.mark.parametrize("language", CASES)
def test_change_is_described_in_every_language(language: str) -> None:
    path, marked, sentences = CASES[language]
    for sources in (True, False):
        written = texts(change(path, *versions(marked), sources=sources))
        assert sorted(written) == sorted(sentences)


def test_every_language_with_a_grammar_is_tested() -> None:
    assert {language.name for language in languages_known()} <= set(CASES)
