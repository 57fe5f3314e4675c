// The search of the documentation. The index is loaded when the field is used for the first time.
const MAX_RESULTS = 12;
const EXCERPT_CHARACTERS = 120;

const form = document.getElementById('search');
const results = document.getElementById('results');
let index;

async function sections() {
  index ??= fetch('/docs/search.json').then((answer) => answer.json());
  return index;
}

/** Sections that have every word; a word in a heading or a title counts more than one in the text. */
function found(all, words) {
  const scored = [];
  for (const section of all) {
    const [title, heading, text] = [section.title, section.heading, section.text].map((part) => part.toLowerCase());
    let score = 0;
    for (const word of words) {
      const own = (heading.includes(word) ? 5 : 0) + (title.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0);
      if (own === 0) {
        score = 0;
        break;
      }
      score += own;
    }
    if (score > 0) scored.push({ section, score });
  }
  return scored.sort((a, b) => b.score - a.score).slice(0, MAX_RESULTS);
}

function item({ section }, word) {
  const entry = document.createElement('li');
  const link = document.createElement('a');
  link.href = `/docs/${section.page}#${section.anchor}`;
  link.textContent = section.heading === section.title ? section.title : `${section.title}: ${section.heading}`;
  const excerpt = document.createElement('p');
  const at = Math.max(0, section.text.toLowerCase().indexOf(word) - EXCERPT_CHARACTERS / 2);
  excerpt.textContent = section.text.slice(at, at + EXCERPT_CHARACTERS);
  entry.append(link, excerpt);
  return entry;
}

async function search() {
  const words = new FormData(form).get('q').toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length === 0 ? [] : found(await sections(), words);
  results.replaceChildren(...hits.map((hit) => item(hit, words[0])));
  if (words.length > 0 && hits.length === 0) results.replaceChildren('Nothing found');
  results.hidden = words.length === 0;
}

form.addEventListener('input', search);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  results.querySelector('a')?.click();
});

// A language that is chosen once is chosen everywhere. Without a script, or without storage, each group has its own choice.
function choose(language) {
  for (const tab of document.querySelectorAll(`.tabs input[value="${language}"]`)) tab.checked = true;
}

document.querySelector('main').addEventListener('change', ({ target }) => {
  if (!target.matches('.tabs input')) return;
  // The groups above change their heights: what is looked at stays where it is.
  const before = target.getBoundingClientRect().top;
  choose(target.value);
  scrollBy(0, target.getBoundingClientRect().top - before);
  try {
    localStorage.setItem('docs-language', target.value);
  } catch {
    // Storage is switched off.
  }
});
try {
  choose(localStorage.getItem('docs-language') ?? '');
} catch {
  // As above.
}

// The API reference searches from here.
const asked = new URLSearchParams(location.search).get('q');
if (asked) {
  form.elements.q.value = asked;
  search();
}
