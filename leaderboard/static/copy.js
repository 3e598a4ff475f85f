// Buttons that copy the text beside them; where the browser refuses, the text is selected instead.
(() => {
  "use strict";
  for (const button of document.querySelectorAll("button.copy")) {
    const source = button.parentElement.querySelector("code");
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source);
        button.textContent = "Press Ctrl+C";
      }
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
  }
  document.documentElement.dataset.ready = "copy";
})();
