// Shows photos large, above the page: arrow keys and swiping go through them, Escape closes. Without this script a photo is a link to its
// file.
const gallery = document.querySelector('.gallery');
const slides = gallery.querySelector('.slides');
const links = [...slides.querySelectorAll('a')];
const thumbs = [...gallery.querySelectorAll('.thumbs a')];
const viewer = makeViewer();
const large = viewer.querySelector('.slides');

links.forEach((link, index) => {
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    open(index);
  });
});
thumbs.forEach((thumb, index) => {
  thumb.addEventListener('click', (event) => {
    event.preventDefault();
    goTo(slides, index);
  });
});
slides.addEventListener('keydown', (event) => turn(event, slides, links.indexOf(document.activeElement)));
slides.addEventListener('scroll', markThumb, { passive: true });
markThumb();

function markThumb() {
  thumbs.forEach((thumb, index) => {
    thumb.toggleAttribute('aria-current', index === shownIn(slides));
  });
}

function shownIn(list) {
  return Math.round(list.scrollLeft / Math.max(1, list.clientWidth));
}

function goTo(list, index) {
  const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth';
  list.scrollTo({ left: index * list.clientWidth, behavior });
}

/** The arrow keys, from the photo that has the focus or is shown. */
function turn(event, list, from) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const to = from + (step ?? 0);
  if (!step || to < 0 || to >= links.length) return;
  event.preventDefault();
  goTo(list, to);
  if (list === slides) links[to].focus({ preventScroll: true });
}

function makeViewer() {
  const dialog = document.createElement('dialog');
  dialog.className = 'viewer';
  dialog.setAttribute('aria-label', gallery.getAttribute('aria-label'));
  const list = document.createElement('ul');
  list.className = 'slides';
  list.tabIndex = 0;
  const buttons = document.createElement('p');
  const count = document.createElement('span');
  count.setAttribute('role', 'status');
  if (links.length > 1)
    buttons.append(
      buttonOf('Previous', () => step(-1)),
      count,
      buttonOf('Next', () => step(1)),
    );
  buttons.append(buttonOf('Close', () => dialog.close()));
  dialog.append(list, buttons);
  const step = (by) => goTo(list, Math.min(links.length - 1, Math.max(0, shownIn(list) + by)));
  // A dialog that is closed has no place to which it is scrolled.
  let shown = 0;
  list.addEventListener('scroll', () => {
    if (!dialog.open) return;
    shown = shownIn(list);
    const text = `${shown + 1} of ${links.length}`;
    if (count.textContent !== text) count.textContent = text;
  });
  dialog.addEventListener('keydown', (event) => turn(event, list, shownIn(list)));
  // Outside of the photo is outside of the dialog.
  list.addEventListener('click', ({ target }) => target.tagName !== 'IMG' && dialog.close());
  dialog.addEventListener('close', () => {
    slides.scrollTo({ left: shown * slides.clientWidth, behavior: 'instant' });
    links[shown].focus({ preventScroll: true });
  });
  document.body.append(dialog);
  return dialog;
}

function buttonOf(text, act) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button quiet';
  button.textContent = text;
  button.addEventListener('click', act);
  return button;
}

function open(index) {
  if (large.childElementCount === 0) {
    for (const link of links) {
      const item = document.createElement('li');
      const image = new Image();
      image.src = link.href;
      image.alt = link.querySelector('img:not(.blur)').alt;
      image.loading = 'lazy';
      item.append(image);
      large.append(item);
    }
  }
  viewer.showModal();
  large.scrollTo({ left: index * large.clientWidth, behavior: 'instant' });
  large.focus();
  large.dispatchEvent(new Event('scroll'));
}
