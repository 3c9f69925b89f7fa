// Keeps an open page true. Without this script, or without a connection, the page is as it was when it was loaded.
const namesMax = 3;

const list = document.querySelector('#animals');
const notice = document.querySelector('#notice');
const spoken = document.querySelector('#spoken');
const arrived = new Map();
let heard = document.querySelector('#main').dataset.asOf;
let source = listen();

// A page that was left lets go of its connection, so that others can have it; the back button brings both back.
addEventListener('pagehide', () => source.close());
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) source = listen();
});

function listen() {
  const opened = new EventSource(`/live?after=${encodeURIComponent(heard)}`);
  opened.addEventListener('message', ({ data, lastEventId }) => {
    heard = lastEventId;
    apply(JSON.parse(data));
  });
  opened.addEventListener('missed', () => offerReload('This page may be out of date: '));
  return opened;
}

function apply({ order, animal, ...now }) {
  if (order !== undefined) {
    if (document.querySelector(`[data-order="${order}"]`)) offerReload('There is news of your request: ');
    return;
  }
  const shown = document.querySelectorAll(`[data-animal="${animal}"]`);
  if (shown.length === 0 && list) countArrival(animal, now);
  for (const element of shown) changeBadge(element, now);
}

function changeBadge(element, { name, status, words }) {
  const badge = element.querySelector('.badge');
  if (badge.dataset.status === status) return;
  badge.dataset.status = status;
  badge.textContent = words;
  // What someone is typing into the form is left alone: the page changes when they ask for it.
  if (element.matches('article')) offerReload(`${name}: ${words.toLowerCase()}. `);
  else spoken.textContent = `${name}: ${words.toLowerCase()}.`;
}

/** New animals stand at the end of the list, so the notice leads to them and not to this page again. */
function countArrival(animal, { name, categoryId, status }) {
  const { status: wanted, category } = list.dataset;
  if (status === wanted && (category === '' || category === String(categoryId))) arrived.set(animal, name);
  else arrived.delete(animal);
  if (arrived.size === 0) return notice.replaceChildren();
  const links = [...arrived].slice(-namesMax).flatMap(([id, text], i) => (i === 0 ? [] : [', ']).concat(linkTo(`/animals/${id}`, text)));
  const count = arrived.size === 1 ? '1 new animal: ' : `${arrived.size} new animals: `;
  notice.replaceChildren(count, ...links, arrived.size > namesMax ? ` and ${arrived.size - namesMax} more` : '');
}

function offerReload(text) {
  notice.replaceChildren(text, linkTo(location.href, 'show'));
}

function linkTo(address, text) {
  const link = document.createElement('a');
  link.href = address;
  link.textContent = text;
  return link;
}
