// What the pages share: their data, and their texts in the language of the entries or items, or English on request.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = name => document.getElementById(name);
const inEnglish = !data.words || location.hash === "#en";
const words = inEnglish ? {} : data.words;
// The English text is the key of its translation; {} stands for what is put in.
const translated = (text, ...values) => values.reduce((soFar, value) => soFar.replace("{}", value), words[text] || text);

function translatePage(title) {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent.trim();
    if (words[text]) texts.currentNode.textContent = texts.currentNode.textContent.replace(text, words[text]);
  }
  document.documentElement.lang = inEnglish ? "en" : data.language;
  document.title = byId("title").textContent = translated(title) + (data.name ? ": " + translated(data.name) : "");
  if (data.words && !inEnglish) {
    const note = document.body.appendChild(document.createElement("footer"));
    note.id = "translation";
    note.textContent = translated("A machine translated this page; nobody has checked it yet.");
  }
  byId("switch").hidden = !data.words;
  byId("switch").textContent = inEnglish ? data.words && data.words[data.name] : "English";
  byId("switch").addEventListener("click", () => { location.hash = inEnglish ? "" : "en"; location.reload(); });
}
