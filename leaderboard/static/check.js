// Check the form of a submission in the page; nothing is sent. The rules stand in the page and come from the source of
// `turkic-idiom leaderboard check`, which also knows every id and computes the scores.
(() => {
  "use strict";
  const rules = JSON.parse(document.getElementById("rules").textContent);
  const { limits } = rules;
  const report = document.getElementById("report");
  const inputs = [...document.querySelectorAll("#check input")];
  const known = [rules.metadata_file, ...Object.keys(rules.files)];
  const unseen = new RegExp(`(?! )[\\p{C}\\p{Z}]|${rules.blanks}`, "u");
  const MOST_SHOWN = 80; // characters of a wrong value

  class Malformed extends Error {}

  const list = new Intl.ListFormat("en", { type: "conjunction" });
  const number = value => value.toLocaleString("en");
  const isObject = value => typeof value === "object" && value !== null && !Array.isArray(value);
  const isPosition = value => Number.isInteger(value) && value >= 0;

  function shown(value) {
    const text = JSON.stringify(value) ?? String(value);
    return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}...`;
  }

  function decode(bytes) {
    let text = "";
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new Malformed("not UTF-8; save the file as UTF-8");
    }
    if (text.startsWith("\ufeff")) throw new Malformed("begins with a byte order mark; save it as UTF-8 without one");
    return text;
  }

  function parse(text) {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new Malformed(`malformed JSON: ${error.message}`);
    }
  }

  async function unpack(file) {
    const chunks = [];
    let size = 0;
    try {
      const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        size += part.value.length;
        if (size > limits.unpacked) {
          reader.cancel();
          break;
        }
        chunks.push(part.value);
      }
    } catch {
      throw new Malformed("not a gzip file, cut short, or followed by something else");
    }
    if (size > limits.unpacked)
      throw new Malformed(`more than the ${number(limits.unpacked)} bytes that are allowed, once unpacked`);
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
  }

  // What is wrong with a text of one line that people will read
  function plainProblem(text) {
    const match = unseen.exec(text);
    if (match) return `has the character U+${match[0].codePointAt(0).toString(16).padStart(4, "0")}, which cannot be seen`;
    if (!text || text !== text.trim()) return "is empty, or begins or ends with white space";
    return text === text.normalize("NFC") ? "" : "is not in Unicode's normal form NFC";
  }

  // What is wrong with a value by the part of JSON Schema that the metadata use; empty if nothing is
  function schemaProblem(value, schema) {
    if (schema.anyOf) {
      const problems = schema.anyOf.map(one => schemaProblem(value, one));
      return problems.some(problem => !problem) ? "" : problems[0];
    }
    if (schema.type === "null") return value === null ? "" : "must be null";
    if (schema.type === "integer" || schema.type === "number") {
      if (typeof value !== "number") return "must be a number";
      if (schema.type === "integer" && !Number.isInteger(value)) return "must be a whole number";
      return value < schema.minimum || value > schema.maximum ? `must be ${schema.minimum} to ${schema.maximum}` : "";
    }
    if (schema.type === "object") return objectProblem(value, schema);
    if (typeof value !== "string") return "must be a text";
    if (schema.enum && !schema.enum.includes(value)) return `must be one of ${schema.enum.join(", ")}`;
    if (schema.pattern && !new RegExp(schema.pattern, "u").test(value)) return `must fit the pattern ${schema.pattern}`;
    if (schema.maxLength !== undefined && [...value].length > schema.maxLength)
      return `has more than ${schema.maxLength} characters`;
    return schema.format === "plain-text" ? plainProblem(value) : "";
  }

  function objectProblem(value, schema) {
    if (!isObject(value)) return "must be an object";
    if (Object.keys(value).length > schema.maxProperties) return `has more than ${schema.maxProperties} entries`;
    const patterns = Object.entries(schema.patternProperties || {});
    for (const [key, inner] of Object.entries(value)) {
      const fitting = patterns.find(([pattern]) => new RegExp(pattern, "u").test(key));
      const problem = fitting ? schemaProblem(inner, fitting[1]) : "is no name that can be used";
      if (problem) return `${shown(key)} ${problem}`;
    }
    return "";
  }

  async function checkMetadata(file, faults) {
    const fault = (line, message) => faults.push({ file: rules.metadata_file, line, message });
    if (file.size > limits.metadata) {
      fault(0, `more than the ${number(limits.metadata)} bytes that are allowed`);
      return null;
    }
    let text = "";
    let value = null;
    try {
      text = decode(await file.arrayBuffer());
      value = parse(text);
    } catch (error) {
      fault(0, error.message);
      return null;
    }
    if (!isObject(value)) {
      fault(0, "must hold an object with the fields of a submission");
      return null;
    }
    const lineOf = field => {
      const place = text.indexOf(JSON.stringify(field));
      return place < 0 ? 0 : text.slice(0, place).split("\n").length;
    };
    const before = faults.length;
    const { properties, required } = rules.metadata;
    for (const field of required) if (!(field in value)) fault(0, `${shown(field)}: field required`);
    for (const [field, inner] of Object.entries(value)) {
      const schema = Object.hasOwn(properties, field) ? properties[field] : null;
      const problem = schema ? schemaProblem(inner, schema) : "is no field of a submission";
      if (problem) fault(lineOf(field), `${shown(field)}: ${problem}, not ${shown(inner)}`);
    }
    return faults.length > before ? null : value;
  }

  function checkRevision(metadata, faults) {
    const { revision, path, editions } = rules.data;
    if (metadata.dataset_revision === revision) return;
    const edition = editions[metadata.dataset_revision];
    const which = edition ? ` (edition ${edition} of the lexicon)` : ", which this site does not know";
    const message = `predictions for data of the revision ${metadata.dataset_revision}${which}; this site scores ${path} at ${revision}: run the model again on these data`;
    faults.push({ file: rules.metadata_file, line: 0, message });
  }

  // The name that the folder must have; null where the browser does not offer the hash
  async function slugOf(metadata) {
    const { name, revision, type, regime, pooling, few_shot: shots } = metadata;
    if (!window.crypto?.subtle) return null;
    const identity = `[${[name, revision, type, regime, pooling, shots].map(part => JSON.stringify(part)).join(", ")}]`;
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(identity)));
    const hash = [...digest.slice(0, 4)].map(byte => byte.toString(16).padStart(2, "0")).join("");
    const parts = [name.replaceAll("/", "__"), pooling, regime, shots === null ? null : `${shots}-shot`];
    return `${parts.filter(part => part !== null).join("-").toLowerCase().slice(0, limits.slug)}-${hash}`;
  }

  // Kind of a file -> the key of the id of a prediction, and the key of its value
  const PREDICTION = {
    ranking: ["query", "ranking"],
    tags: ["sentence", "tags"],
    answers: ["item", "answer"],
    similarities: ["pair", "similarity"],
  };

  // The lines of one file of predictions: heads of subsets, and what was predicted
  class Reader {
    constructor(rule) {
      this.rule = rule;
      this.sections = new Map(); // subset -> ids that were read
      this.current = null;
      this.isLost = false; // after a wrong head, the lines of its subset cannot be read
    }

    add(line) {
      const row = parse(line);
      const keys = isObject(row) ? Object.keys(row).sort() : [];
      if (["subset", "documents"].some(key => keys.includes(key))) {
        [this.current, this.isLost] = [null, true];
        this.begin(row, keys);
        this.isLost = false;
        return;
      }
      const given = keys.filter(key => key !== "beyond").join();
      const isPrediction = Object.values(PREDICTION).some(pair => [...pair].sort().join() === given);
      if (!isPrediction) throw new Malformed(`neither the head of a subset nor a prediction; its keys are ${shown(keys)}`);
      if (this.isLost) return;
      if (!this.current) throw new Malformed("a prediction before the head line of its subset");
      const [id] = PREDICTION[this.rule.kind];
      if (typeof row[id] !== "string") throw new Malformed(`the ${id} must be an id, not ${shown(row[id])}`);
      if (this.current.seen.has(row[id])) throw new Malformed(`${id} ${shown(row[id])} appears twice`);
      this.current.seen.add(row[id]);
      this[this.rule.kind](row, `${id} ${shown(row[id])}`);
    }

    begin(row, keys) {
      const { subsets, task, kind } = this.rule;
      if (row.task !== task)
        throw new Malformed(`the head names the task ${shown(row.task)}, but this is the file of ${task}; rename the file, or write the submission again`);
      const head = ["task", "subset", ...this.rule.head];
      if (keys.join() !== head.sort().join())
        throw new Malformed(`the head of a ${task} subset has the keys ${list.format(head)}, not ${shown(keys)}`);
      const subset = row.subset;
      const isKnown = typeof subset === "string" && (!subsets || Object.hasOwn(subsets, subset));
      if (!isKnown) throw new Malformed(`the data has no ${task} subset ${shown(subset)}; it has ${Object.keys(subsets || {}).join(", ")}`);
      if (this.sections.has(subset)) throw new Malformed(`${task}, ${subset} appears twice`);
      const size = subsets?.[subset];
      if (kind === "ranking") this.checkDocuments(row.documents, subset, size);
      if (kind === "answers")
        for (const [key, values] of [["prompt", rules.prompts], ["method", rules.methods]])
          if (!values.includes(row[key])) throw new Malformed(`the ${key} ${shown(row[key])} is unknown; known: ${values.join(", ")}`);
      this.current = { seen: new Set(), documents: row.documents?.length, wanted: size?.n };
      this.sections.set(subset, this.current);
    }

    checkDocuments(documents, subset, size) {
      const isSound =
        Array.isArray(documents) &&
        (!size || documents.length === size.pool) &&
        documents.every((id, place) => typeof id === "string" && (!place || documents[place - 1] < id));
      const n = size ? `${size.pool} ` : "";
      if (!isSound) throw new Malformed(`the documents of ${subset} must be the ${n}ids of its pool, sorted; its rankings were not read`);
    }

    ranking({ ranking, beyond = [] }, where) {
      if (!Array.isArray(ranking) || !ranking.length)
        throw new Malformed(`${where}: the ranking must be a list of positions, not ${shown(ranking)}`);
      const n = this.current.documents;
      const seen = new Set();
      for (const group of ranking) {
        if (Array.isArray(group) && !group.length) throw new Malformed(`${where}: an empty list among its documents`);
        for (const position of Array.isArray(group) ? group : [group]) {
          if (!isPosition(position) || position >= n)
            throw new Malformed(`${where}: no document has the position ${shown(position)}; there are 0 to ${n - 1}`);
          if (seen.has(position)) throw new Malformed(`${where}: document ${position} is ranked twice`);
          seen.add(position);
        }
      }
      const listed = seen.size;
      const groups = new Map(); // above -> tied of each document that claims this place
      for (const item of Array.isArray(beyond) ? beyond : [beyond]) {
        const isTriple = Array.isArray(item) && item.length === 3 && item.every(isPosition) && item[0] < n;
        const [document, above, tied] = isTriple ? item : [];
        if (!isTriple || seen.has(document) || above < listed || tied < 1 || above + tied > n)
          throw new Malformed(`${where}: beyond must list [position, above, tied] of documents behind the listed ones, not ${shown(item)}`);
        seen.add(document);
        groups.set(above, [...(groups.get(above) || []), tied]);
      }
      let end = listed;
      for (const [above, sizes] of [...groups].sort(([one], [other]) => one - other)) {
        if (above < end || sizes.some(size => size !== sizes[0]) || sizes.length > sizes[0])
          throw new Malformed(`${where}: the places in beyond contradict each other after ${above} documents`);
        end = above + sizes[0];
      }
    }

    tags({ tags }, where) {
      const isSound = typeof tags === "string" && tags !== "" && [...tags].every(letter => rules.letters.includes(letter));
      if (!isSound) throw new Malformed(`${where} needs the letters ${[...rules.letters].join(", ")}, one for each word, not ${shown(tags)}`);
    }

    answers({ answer }, where) {
      if (answer === null) return;
      if (!this.rule.is_open) {
        if (!isPosition(answer)) throw new Malformed(`${where} needs the position of an option, or null, not ${shown(answer)}`);
        return;
      }
      if (typeof answer !== "string" || !answer.trim()) throw new Malformed(`${where} needs a text or null, not ${shown(answer)}`);
      if ([...answer].length > limits.answer) throw new Malformed(`${where} has a text of more than ${limits.answer} characters`);
      if (unseen.test(answer)) throw new Malformed(`${where} has a character that cannot be seen`);
    }

    similarities({ similarity }, where) {
      if (typeof similarity !== "number" || Math.abs(similarity) > 1.001)
        throw new Malformed(`${where} needs a similarity from -1 to 1, not ${shown(similarity)}`);
    }

    missing() {
      const { task } = this.rule;
      const messages = [];
      for (const [subset, { seen, wanted }] of this.sections)
        if (wanted !== undefined && seen.size !== wanted)
          messages.push(`${task}, ${subset}: ${number(seen.size)} predictions; the data has ${number(wanted)}, and all must be there`);
      return messages;
    }
  }

  async function checkPredictions(name, file, faults) {
    const own = [];
    try {
      if (file.size > limits.packed) throw new Malformed(`more than the ${number(limits.packed)} bytes that are allowed`);
      const reader = new Reader(rules.files[name]);
      readLines(await unpack(file), reader, own);
      if (own.length < limits.faults) for (const message of reader.missing()) own.push({ line: 0, message });
      if (!reader.sections.size && !own.length) own.push({ line: 0, message: "no subset in it; leave the file out" });
    } catch (error) {
      own.push({ line: 0, message: error.message });
    }
    faults.push(...own.map(fault => ({ file: name, ...fault })));
  }

  function readLines(bytes, reader, faults) {
    for (let start = 0, line = 1; start < bytes.length; line++) {
      const newline = bytes.indexOf(10, start);
      const end = newline < 0 ? bytes.length : newline;
      try {
        if (end - start > limits.line) throw new Malformed(`a line of more than the ${number(limits.line)} bytes that are allowed`);
        reader.add(decode(bytes.subarray(start, end)));
      } catch (error) {
        if (!(error instanceof Malformed)) throw error;
        faults.push({ line, message: error.message });
      }
      if (faults.length >= limits.faults) {
        faults.push({ line, message: "and so on; the rest was not read" });
        return;
      }
      start = end + 1;
    }
  }

  // Every fault of the files of one submission; `folder` is "" where single files were chosen
  async function checkSubmission(folder, files) {
    const faults = [];
    for (const name of files.keys())
      if (!known.includes(name)) faults.push({ file: "", line: 0, message: `holds ${shown(name)}; only ${known.join(", ")} belong here` });
    if (!files.has(rules.metadata_file)) faults.push({ file: "", line: 0, message: `holds no ${rules.metadata_file}` });
    if (![...files.keys()].some(name => name in rules.files))
      faults.push({ file: "", line: 0, message: `holds no predictions; add at least one of ${Object.keys(rules.files).join(", ")}` });
    if (faults.length) return { faults };
    const metadata = await checkMetadata(files.get(rules.metadata_file), faults);
    if (!metadata) return { faults };
    const slug = await slugOf(metadata);
    if (folder && slug && folder !== slug)
      faults.push({ file: "", line: 0, message: `this submission belongs in a folder named ${slug}, not ${shown(folder)}` });
    checkRevision(metadata, faults);
    if (metadata.dataset_revision !== rules.data.revision) return { faults }; // its predictions do not fit these data
    for (const name of Object.keys(rules.files)) if (files.has(name)) await checkPredictions(name, files.get(name), faults);
    return { faults, slug, metadata, names: [...files.keys()] };
  }

  // Folder -> name -> file. As for the command, the chosen folder is a submission itself, or each folder in it is one,
  // but for hidden folders; the files beside these are skipped.
  function submissionsIn(files) {
    const paths = files.map(file => (file.webkitRelativePath || file.name).split("/"));
    const isInFolder = path => path.length > 2 && !path[1].startsWith(".");
    const isSubmission = paths.some(path => path.length < 3 && path.at(-1) === rules.metadata_file);
    const hasFolders = !isSubmission && paths.some(isInFolder);
    const folders = new Map();
    files.forEach((file, place) => {
      const path = paths[place];
      if (hasFolders && !isInFolder(path)) return;
      const depth = hasFolders ? 2 : Math.min(path.length - 1, 1); // single files have no folder
      const folder = path.slice(0, depth).join("/");
      if (!folders.has(folder)) folders.set(folder, new Map());
      folders.get(folder).set(path.slice(depth).join("/"), file);
    });
    return folders;
  }

  function line(text, className = "") {
    const item = document.createElement("li");
    item.textContent = text;
    item.className = className;
    return item;
  }

  function show(folder, { faults, slug, names }) {
    const title = document.createElement("h3");
    title.textContent = folder || "The chosen files";
    const messages = document.createElement("ul");
    for (const { file, line: at, message } of faults) {
      const item = line(`${file || folder || "the folder"}${at ? `, line ${at}` : ""}: ${message}`, "fault");
      Object.assign(item.dataset, { file, line: at });
      messages.append(item);
    }
    if (!faults.length) {
      messages.append(line(`No fault in its form: ${list.format(names.sort())}.`, "sound"));
      if (!folder && slug) messages.append(line(`They belong in a folder named ${slug}.`));
      messages.append(line("Now run the third command: it also knows every id, and shows the scores."));
    }
    report.append(title, messages);
  }

  async function check(files) {
    report.replaceChildren();
    if (!files.length) return;
    report.append(line("Checking …"));
    const results = [];
    for (const [path, own] of submissionsIn(files)) {
      const folder = path.split("/").at(-1);
      results.push([folder, await checkSubmission(folder, own)]);
    }
    report.replaceChildren();
    for (const [folder, result] of results) show(folder, result);
  }

  for (const input of inputs)
    input.addEventListener("change", async () => {
      delete document.documentElement.dataset.checked;
      await check([...input.files]);
      input.value = ""; // so that the same files can be chosen again once they are corrected
      document.documentElement.dataset.checked = "yes";
    });
  document.getElementById("check").hidden = false;
})();
