// Updates an open page. Without this script or a connection, the page stays as it was loaded.
const namesMax = 3;

const list = document.querySelector('#animals');
const notice = document.querySelector('#notice');
const spoken = document.querySelector('#spoken');
const arrived = new Map();
let lastId = document.querySelector('#main').dataset.asOf;
let source = listen();

// A page that was left closes its connection to make room for others; the back button reopens it.
addEventListener('pagehide', () => source.close());
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) source = listen();
});

function listen() {
  const opened = new EventSource(`/live?after=${encodeURIComponent(lastId)}`);
  opened.addEventListener('message', ({ data, lastEventId }) => {
    lastId = lastEventId;
    apply(JSON.parse(data));
  });
  opened.addEventListener('missed', () => offerReload('This page may be out of date: '));
  return opened;
}

function apply({ order, application, animal, ...now }) {
  if (order !== undefined) {
    if (document.querySelector(`[data-order="${order}"]`)) offerReload('There is news of your request: ');
    return;
  }
  if (application !== undefined) {
    const own = document.querySelector(`[data-application="${application}"]`);
    // Who has just sent it knows that; who has just confirmed the address does that on another page.
    if (own && (!now.isNew || own.dataset.status === 'unconfirmed')) offerReload('There is news of your application: ');
    return;
  }
  const shown = document.querySelectorAll(`[data-animal="${animal}"]`);
  if (shown.length === 0 && list) countArrival(animal, now);
  for (const element of shown) changeBadge(element, now);
}

function changeBadge(element, { name, status, words }) {
  // The visitor's own request says more.
  const isPromisedToVisitor = element.dataset.own !== undefined && (status === 'pending' || status === 'held');
  if (element.dataset.status === status || isPromisedToVisitor) return;
  const badge = element.querySelector('.badge') ?? addBadge(element);
  element.dataset.status = status;
  badge.dataset.status = status;
  badge.textContent = words;
  element.classList.add('changed');
  // Don't disturb someone who is filling in the form: the page reloads when they choose to.
  if (element.matches('article')) offerReload(`${name}: ${words.toLowerCase()}. `);
  else spoken.textContent = `${name}: ${words.toLowerCase()}.`;
}

/** A list has none for the status that all of its animals have. */
function addBadge(element) {
  const badge = document.createElement('span');
  badge.className = 'badge';
  (element.querySelector('.facts') ?? element.querySelector('a')).append(badge);
  return badge;
}

/** The notice links to new animals instead of reloading this page. It can't tell whether they match further filters. */
function countArrival(animal, { name, categoryId, status }) {
  const { status: wanted, category, narrow } = list.dataset;
  if (narrow !== undefined) return;
  const listed = status === 'held' ? 'pending' : status;
  if (listed === wanted && (category === '' || category === String(categoryId))) arrived.set(animal, name);
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
