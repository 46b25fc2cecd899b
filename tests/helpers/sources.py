"""One text a language: a class around a function `load`, with all that facts are about."""

from collections.abc import Sequence

from crscore.syntax.grammars import Language, language_of
from crscore.syntax.outline import Outline
from crscore.syntax.reader import read

SAMPLES = {
    "python": """from a.b import c

# About A.
@entity
class A(B):
    # On load.
    @cached
    def load(self, a: int, b=1, *rest):
        if a > 1:
            raise Bad("bad")
        try:
            self.x = get(a)
        except (KeyError, OSError) as e:
            pass
        return b

    def _hide(self):
        pass
""",
    "java": """package p;

import a.b.c;

/** About A. */
@Entity
public class A extends B {
  // On load.
  @Cached
  public int load(int a, final String b, int... rest) throws E {
    if (a > 1) {
      throw new Bad("bad");
    }
    try {
      this.x = get(a);
    } catch (KeyError | OSError e) {
    }
    return b;
  }

  private void hide() {
  }
}
""",
    "javascript": """import { c } from 'a/b';

// About A.
@entity
export class A extends B {
  // On load.
  @cached
  load(a, b = 1, ...rest) {
    if (a > 1) {
      throw new Bad("bad");
    }
    try {
      this.x = get(a);
    } catch (problem) {
    }
    return b;
  }

  #hide() {
  }
}
""",
    "typescript": """import { c } from 'a/b';

namespace N {
  // About A.
  @entity
  export class A<T> extends B<T> {
    // On load.
    @cached
    public load(a: number, b = 1, ...rest: string[]): number {
      if (a > 1) {
        throw new Bad("bad");
      }
      try {
        this.x = get(a);
      } catch (problem: unknown) {
      }
      return b;
    }

    private hide(): void {
    }
  }
}
""",
    "go": """package p

import c "a/b"

// About A.
type A struct {
	y int
}

// On load.
func (s *A) Load(a int, b int, rest ...string) int {
	if a > 1 {
		panic("bad")
	}
	s.x = get(a)
	return b
}

func (s *A) hide() {
}
""",
    "c": """#include <a/b.h>

// About A.
struct A {
  int y;
};

// On load.
static int *load(int a, char *b) {
  if (a > 1) {
    die("bad");
  }
  p->x = get(a);
  return b;
}
""",
    "cpp": """#include <a/b.h>

namespace n {
// About A.
template <typename T>
class A : public B {
 public:
  // On load.
  int load(int a, const T& b = 1) const override {
    if (a > 1) {
      throw Bad("bad");
    }
    try {
      x = get(a);
    } catch (const std::exception& e) {
    }
    return b;
  }

 private:
  void hide() {
  }
};
}
""",
    "csharp": """using A.B;

namespace N {
  // About A.
  [Entity]
  public class A : B {
    // On load.
    [Cached]
    public int load(int a, string b = "x", params int[] rest) {
      if (a > 1) {
        throw new Bad("bad");
      }
      try {
        this.x = get(a);
      } catch (KeyError e) when (e.Y) {
      }
      return b;
    }

    private void hide() {
    }
  }
}
""",
    "php": """<?php
namespace N;

use A\\B;

// About A.
#[Entity]
class A extends B {
  // On load.
  #[Cached]
  public function load(int $a, ?string $b = null, ...$rest): int {
    if ($a > 1) {
      throw new Bad("bad");
    }
    try {
      $this->x = get($a);
    } catch (KeyError | OSError $e) {
    }
    return $b;
  }

  private function hide() {
  }
}
""",
    "ruby": """require 'a/b'

module N
  # About A.
  class A < B
    # On load.
    def load(a, b = 1, *rest)
      if a > 1
        raise Bad, "bad"
      end
      @x = get(a)
      return b
    rescue KeyError, OSError => e
      nil
    end

    private

    def hide
    end
  end
end
""",
}
SAMPLES["tsx"] = SAMPLES["typescript"].replace("return b", "return <p>{b}</p>")


def table(name: str) -> Language:
    """Return the table of a language."""
    language = language_of(name)
    assert language is not None
    return language


def outline(name: str, source: str, *, lines: Sequence[tuple[int, int]] | None = None) -> Outline:
    """Read a text; PHP needs no opening tag."""
    prolog = "<?php " if name == "php" and not source.startswith("<?php") else ""
    return read(table(name), prolog + source, lines=lines)
