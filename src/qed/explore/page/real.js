// Real robots: what they gave is typed in, and the kit says what to run next, and what it believes.
import * as api from "./api.js";
import { $, made } from "./dom.js";

export class RealTrials {
  constructor(page) {
    this.page = page;
    $("told").addEventListener("submit", (event) => {
      event.preventDefault();
      const fitness = Number($("gave").value);
      if ($("gave").value === "" || !Number.isFinite(fitness)) return;
      $("gave").value = "";
      this.change([...page.state.told, [this.asked, fitness]]);
    });
    $("real").addEventListener("toggle", () => this.show());
  }

  change(told) {
    this.page.state.told = told;
    this.page.linked();
    this.show();
  }

  // What the kit says after the trials told.
  async show() {
    const { page } = this, { archive, told } = page.state, { kit } = page.archive;
    $("real").hidden = !kit;
    if (!kit || !($("real").open ||= told.length > 0)) return;
    const mine = (this.asking = {}), { unfit } = page.recovering;
    $("told").hidden = Boolean(unfit);
    if (unfit) { $("advice").textContent = unfit; return; }
    let said;
    try { said = await api.table("advice", { archive, told }); } catch (error) {
      $("advice").textContent = error.message;
      return;
    }
    if (mine !== this.asking) return;
    this.asked = said.ask;
    const [mean, low, high] = said.believed.map((one) => one.toFixed(3));
    $("asked").textContent = `Cell ${said.ask} for ${said.seconds} s gave`;
    const advice = said.worthwhile ? `Go on with cell ${said.best}: believed ${mean} (90 %: ${low} to ${high}).`
      : `Stay with cell ${said.present}: no other is clearly better; believed ${mean} (90 %: ${low} to ${high}).`;
    const next = said.done ? "Further trials are not expected to pay." : `Next try cell ${said.ask}.`;
    $("advice").textContent = told.length ? `${advice} ${next}`
      : `Begin with what the swarm runs: cell ${said.present}, the normal best of the kit.`;
    $("trials-told").replaceChildren(...told.map(([cell, fitness], k) => {
      const item = made("li"), remove = made("button", "×");
      remove.type = "button";
      remove.setAttribute("aria-label", `Remove trial ${k + 1}`);
      remove.addEventListener("click", () => this.change(told.filter((_, i) => i !== k)));
      item.append(made("span", `${k + 1}. cell ${cell} gave ${fitness}`), remove);
      return item;
    }));
    if (!told.length) return;
    page.map.untried();
    page.map.tried(said.cells, said.means, false);
    page.map.marked = [page.map.rows.get(said.best)];
    page.map.draw();
    page.filters.layer("believed of the real robots", "believed of the real robots");
    page.scaled();
  }
}
