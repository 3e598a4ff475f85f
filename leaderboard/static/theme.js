// The menus of the navigation, and dark mode: as the system has it, or as was chosen; stands in <head>, so that nothing flashes.
(() => {
  "use strict";
  const root = document.documentElement;
  const key = "turkic-idiom-theme";
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // storage may be off; the choice then holds for this page
    }
  };
  const apply = theme => {
    if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  };
  apply(stored());
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
    const show = () => button.setAttribute("aria-pressed", String(isDark()));
    button.addEventListener("click", () => {
      const theme = isDark() ? "light" : "dark";
      apply(theme);
      try {
        localStorage.setItem(key, theme);
      } catch {
        // see above
      }
      show();
    });
    system.addEventListener("change", show);
    // On a phone the navigation stands behind one button; a click beside a menu, or Escape, closes it
    const menu = document.getElementById("menu");
    menu.hidden = false;
    menu.addEventListener("click", () => {
      const isOpen = menu.getAttribute("aria-expanded") === "true";
      menu.setAttribute("aria-expanded", String(!isOpen));
    });
    const close = event => {
      for (const open of document.querySelectorAll("nav details[open]"))
        if (event.key === "Escape" || (!event.key && !open.contains(event.target))) open.open = false;
    };
    document.addEventListener("click", close);
    document.addEventListener("keydown", close);
    button.hidden = false;
    show();
  });
})();
