/** Listens to keys. */
export class Keys {
  private moves = 0;

  attach(target: HTMLElement): void {
    target.addEventListener("keydown", (event: KeyboardEvent) => {
      if (event.key === "ArrowUp") {
        this.move(0, -1);
      } else if (event.key === "ArrowDown") {
        this.move(0, 1);
      } else if (event.key === "ArrowLeft") {
        this.move(-1, 0);
      } else if (event.key === "ArrowRight") {
        this.move(1, 0);
      } else if (event.key === "w" && !event.ctrlKey) {
        this.move(0, -1);
      } else if (event.key === "s" && !event.ctrlKey) {
        this.move(0, 1);
      } else if (event.key === "a" && !event.ctrlKey) {
        this.move(-1, 0);
      } else if (event.key === "d" && !event.ctrlKey) {
        this.move(1, 0);
      } else if (event.key === "Home") {
        this.move(-10, 0);
      } else if (event.key === "End") {
        this.move(10, 0);
      } else if (event.key === "PageUp") {
        this.move(0, -10);
      } else if (event.key === "PageDown") {
        this.move(0, 10);
      }
    });
  }

  private move(x: number, y: number): void {
    this.moves += Math.abs(x) + Math.abs(y);
  }
}
