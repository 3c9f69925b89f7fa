// Favourites are stored in this browser alone: the ids and names of at most 50 animals, the newest first. Without this script, or where
// the browser stores nothing, there are no hearts.
const storageKey = 'favourites';
const favouritesMax = 50;
const nameCharsMax = 100;

const header = document.querySelector('#to-favourites');
const spoken = document.querySelector('#spoken');

if (canStore()) {
  for (const card of document.querySelectorAll('.card[data-animal]')) card.append(heartOf(card, 'h2'));
  const page = document.querySelector('article[data-animal]');
  page?.querySelector('.acts').append(heartOf(page, 'h1'));
  addEventListener('storage', show);
  addEventListener('pageshow', show);
  header.hidden = false;
  show();
  openOwn();
}

function canStore() {
  try {
    localStorage.setItem('favourites-test', '');
    localStorage.removeItem('favourites-test');
    return true;
  } catch {
    return false;
  }
}

/** Anything could be stored there: another page of this origin may have written it. */
function read() {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    const known = stored.filter(({ id, name }) => /^[1-9]\d{0,14}$/.test(id) && typeof name === 'string');
    return known.slice(0, favouritesMax);
  } catch {
    return [];
  }
}

function write(favourites) {
  try {
    localStorage.setItem(storageKey, JSON.stringify(favourites.slice(0, favouritesMax)));
  } catch {
    spoken.textContent = 'Your browser could not store that.';
  }
  show();
}

function heartOf(element, heading) {
  const heart = document.createElement('button');
  const id = element.dataset.animal;
  const name = element.querySelector(heading).textContent.slice(0, nameCharsMax);
  heart.type = 'button';
  heart.className = 'heart';
  heart.dataset.id = id;
  heart.setAttribute('aria-label', `Favourite: ${name}`);
  heart.addEventListener('click', () => {
    const others = read().filter((one) => one.id !== id);
    const isNew = heart.getAttribute('aria-pressed') !== 'true';
    write(isNew ? [{ id, name }, ...others] : others);
  });
  return heart;
}

function show() {
  const favourites = read();
  const ids = new Set(favourites.map(({ id }) => id));
  for (const heart of document.querySelectorAll('.heart')) heart.setAttribute('aria-pressed', String(ids.has(heart.dataset.id)));
  header.textContent = favourites.length === 0 ? 'Favourites' : `Favourites (${favourites.length})`;
  header.href = addressOf(favourites);
}

function addressOf(favourites) {
  return favourites.length === 0 ? '/favourites' : `/favourites?${new URLSearchParams(favourites.map(({ id }) => ['id', id]))}`;
}

/** On the page of favourites: opens those of this browser, and names those that are gone. */
function openOwn() {
  if (location.pathname !== '/favourites') return;
  if (location.search === '' && read().length > 0) return location.replace(addressOf(read()));
  const gone = document.querySelector('#gone');
  if (!gone) return;
  const shown = new Set([...document.querySelectorAll('.card')].map((card) => card.dataset.animal));
  const asked = new URLSearchParams(location.search).getAll('id');
  const missing = read().filter(({ id }) => asked.includes(id) && !shown.has(id));
  if (missing.length === 0) return;
  const remove = document.createElement('button');
  remove.type = 'button';
  remove.className = 'button quiet';
  remove.textContent = missing.length === 1 ? 'Remove it from the favourites' : 'Remove them from the favourites';
  remove.addEventListener('click', () => {
    write(read().filter(({ id }) => !missing.some((one) => one.id === id)));
    location.replace(addressOf(read()));
  });
  const names = new Intl.ListFormat('en').format(missing.map(({ name }) => name));
  gone.textContent = `${names} ${missing.length === 1 ? 'is' : 'are'} no longer listed here. `;
  gone.append(remove);
}
