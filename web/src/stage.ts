// One large map beside the others, which are sorted by how well they answer the question chosen.
import { Question, questions, recommended } from "./data";
import { MapView } from "./maps";

const say = document.getElementById("say")!;

export class Stage {
  private place = document.getElementById("large")!;
  private others = document.getElementById("others")!;
  private order: MapView[];
  private choices = [...document.querySelectorAll<HTMLInputElement>("input[name=question]")];
  large: MapView;
  question: Question | null = questions[0] ?? null;

  constructor(
    private maps: MapView[],
    private changed: (repaint: MapView[], before?: MapView) => void,
  ) {
    this.order = maps;
    this.large = this.named(recommended) ?? maps[0];
    for (const map of maps) {
      map.picked = () => this.show(map);
      map.button.addEventListener("click", () => this.show(map, true));
      map.button.addEventListener("keydown", (event) => this.key(event));
    }
    for (const choice of this.choices)
      choice.addEventListener("change", () => {
        this.ask(choice.value);
        this.show(this.order[0]);
      });
    this.ask(this.question?.name ?? "");
  }

  named(name: string | null): MapView | undefined {
    return this.maps.find((map) => map.places.name === name);
  }

  /** Sorts the maps by a question; those that were not ranked by it come last. */
  ask(name: string): void {
    this.question = questions.find((q) => q.name === name) ?? this.question;
    for (const choice of this.choices) choice.checked = choice.value === this.question?.name;
    const values = new Map(this.question?.values);
    const rank = (map: MapView) => values.get(map.places.name) ?? -Infinity;
    this.order = [...this.maps].sort((a, b) => rank(b) - rank(a) || this.maps.indexOf(a) - this.maps.indexOf(b));
    for (const map of this.maps) {
      const value = values.get(map.places.name);
      if (this.question) map.rate(value, this.question.ties.includes(map.places.name));
    }
    const told = document.getElementById("asked");
    if (told && this.question)
      told.textContent = `Sorted by ${this.question.name}: ${this.question.measure.replace("R_NX", "the curve below")}; \u25cf best, or no worse.`;
    this.arrange();
    this.changed([]);
  }

  /** Makes a map the large one. */
  show(map: MapView, focus = false): void {
    const before = this.large;
    this.large = map;
    this.arrange();
    if (focus) map.button.focus();
    if (before === map) return;
    say.textContent = `${map.places.name} is the large map`;
    this.changed([map, before], before);
  }

  private arrange(): void {
    for (const map of this.order) map.enlarge(map === this.large);
    if (this.place.firstElementChild !== this.large.figure) this.place.replaceChildren(this.large.figure);
    this.others.replaceChildren(...this.order.filter((map) => map !== this.large).map((map) => map.figure));
  }

  /** Arrow keys go through the maps in the order of the question. */
  private key(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const at = this.order.indexOf(this.large) + by;
    this.show(this.order[(at + this.order.length) % this.order.length], true);
  }
}
