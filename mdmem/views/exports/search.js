const most = 100; // notes that are listed
const notes = JSON.parse(document.getElementById("notes").textContent);
const find = document.querySelector.bind(document), make = document.createElement.bind(document);
const field = find("input"), list = find("ol"), said = find("output");
const lower = notes.map(([title, , facts, text]) => [title.toLowerCase(), (facts + " " + text).toLowerCase()]);
function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  for (let i = 0; words.length && i < notes.length; i++) {
    let score = 0;
    for (const word of words) {
      const place = lower[i][0].includes(word) ? 3 : lower[i][1].includes(word) ? 1 : 0;
      score = place && score >= 0 ? score + place : -1;
      if (score < 0) break;
    }
    if (score > 0) found.push([score, i]);
  }
  found.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  list.replaceChildren(...found.slice(0, most).map(([, i]) => {
    const item = make("li"), link = make("a"), facts = make("small");
    link.href = notes[i][1]; link.textContent = notes[i][0]; facts.textContent = " " + notes[i][2];
    item.append(link, facts);
    return item;
  }));
  said.textContent = words.length ? found.length + " found" : notes.length + " notes";
}
field.addEventListener("input", show);
field.value = decodeURIComponent(location.hash.slice(1));
show();
