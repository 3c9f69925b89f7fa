/** Photos: each is sent by itself, one after the other, with its progress. Without this, the form sends them at once. */
const photoBytesMax = 20_000_000;
const triesMax = 5;
const looksMax = 40;
// A dead line says nothing, and what waits would wait until the system gives up.
const stalledMs = 60_000;
const tooLarge = 'It has more than 20 MB. Save it with fewer pixels, and choose that.';
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Why it was not accepted. A proxy before the console responds without words. */
function wordsFor({ status, response }) {
  if (status === 401) return 'You are signed out. Sign in in another tab, and reload this page.';
  if (response?.message) return response.message;
  if (status === 0) return 'The connection was lost. Try again where the signal is better.';
  return status === 413 ? tooLarge : `The console did not accept it (${status}). Try again in a minute.`;
}

function sendPhoto(url, token, file, onProgress) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('POST', url);
    request.setRequestHeader('accept', 'application/json');
    request.setRequestHeader('x-form-token', token);
    // Without a known type the bytes say what it is.
    request.setRequestHeader('content-type', file.type || 'image/jpeg');
    request.responseType = 'json';
    let stalled;
    const wait = () => {
      clearTimeout(stalled);
      stalled = setTimeout(() => request.abort(), stalledMs);
    };
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      onProgress(loaded / total);
      wait();
    });
    request.addEventListener('loadend', () => {
      clearTimeout(stalled);
      const isSent = request.status === 200;
      const isBusy = request.getResponseHeader('retry-after') !== null;
      resolve({ isSent, words: wordsFor(request), isBusy, mayTry: isBusy || [0, 408].includes(request.status) || request.status >= 500 });
    });
    request.send(file);
    wait();
  });
}

const isTouched = (card) =>
  card.contains(document.activeElement) ||
  card.querySelector('details[open]') ||
  [...card.querySelectorAll('input')].some((one) => one.value !== one.defaultValue);

/** The cards of the page as they are now. What somebody types meanwhile stays. */
async function refreshPhotos() {
  const response = await fetch(location.pathname + location.search).catch(() => undefined);
  const text = response?.ok ? await response.text() : '';
  const page = new DOMParser().parseFromString(text, 'text/html');
  // On a page of several animals, what each of them has.
  for (const part of page.querySelectorAll('[data-fresh]')) document.getElementById(part.id)?.replaceWith(part);
  const fresh = page.querySelector('[data-photos]');
  if (!fresh) return undefined;
  const list = document.querySelector('[data-photos]');
  if (!list) {
    document.querySelector('.empty').replaceWith(fresh.closest('section'));
    return gripAll();
  }
  list.closest('section').querySelector('h2').textContent = fresh.closest('section').querySelector('h2').textContent;
  for (const card of [...fresh.children]) {
    const old = document.getElementById(card.id);
    if (!old) list.append(card);
    else if (old.textContent === card.textContent) continue;
    else if (isTouched(old)) {
      old.dataset.state = card.dataset.state;
      old.querySelector('.shown').replaceWith(card.querySelector('.shown'));
    } else old.replaceWith(card);
  }
  if (!document.body.classList.contains('dragging')) putInOrder(list, fresh);
  gripAll();
}

/** Somebody else, or another window, may have moved them. */
function putInOrder(list, fresh) {
  [...fresh.children].forEach(({ id }, place) => {
    const card = document.getElementById(id);
    if (card && list.children[place] !== card) list.children[place].before(card);
  });
}

/** While a card is drawn, each says where it would be. */
function numberAll(list) {
  const listed = [...list.children].find(({ dataset }) => dataset.state === 'ready');
  [...list.children].forEach((card, place) => {
    const label = card.querySelector('.label');
    label.textContent = `${place + 1}${card === listed ? ', shown in lists' : ''}`;
    label.className = `label ${card === listed ? 'good' : 'ended'}`;
  });
}

const isProcessing = () => document.querySelector('[data-state=processing]') !== null;
let isWatching = false;

/** Looks until nothing is processed any more, less and less often. */
async function watchPhotos() {
  if (isWatching) return;
  isWatching = true;
  for (let looks = 0; looks < looksMax && isProcessing(); looks += 1) {
    await pause(Math.min(1_500 * 1.15 ** looks, 15_000));
    if (!document.hidden) await refreshPhotos();
  }
  isWatching = false;
}

const uploads = document.querySelectorAll('[data-upload]');
for (const upload of uploads) {
  const list = upload.querySelector('[data-sent]');
  const status = upload.querySelector('[data-status]');
  let added = 0;
  const queue = [];
  let isSending = false;

  const show = (file) => {
    const item = document.createElement('li');
    item.innerHTML =
      '<bdi></bdi><progress max="1" value="0"></progress><p></p><div class="acts" hidden><button type="button" class="button quiet">Try again</button></div>';
    const [name, bar, , again] = item.children;
    name.textContent = file.name || 'A photo';
    bar.ariaLabel = `Sending ${name.textContent}`;
    again.querySelector('button').addEventListener('click', () => {
      again.hidden = true;
      queue.push({ file, item });
      void work();
    });
    list.append(item);
    return { file, item };
  };

  /** Undefined: it can be sent. */
  const refusalOf = ({ type, size }) => {
    if (type !== '' && !type.startsWith('image/')) return { words: 'This is no photo. Choose a JPEG, PNG or WebP.' };
    if (size > photoBytesMax) return { words: tooLarge };
    const { max } = upload.dataset;
    if (document.querySelectorAll('[data-photos] > li').length < max) return undefined;
    return { words: `The animal has ${max} photos, as many as there can be. Remove one first.`, mayTry: true };
  };

  const sendOne = async ({ file, item }) => {
    const [, bar, words, again] = item.children;
    const say = (text, isWrong) => {
      words.textContent = text;
      words.className = isWrong ? 'wrong' : 'soft small';
    };
    bar.hidden = false;
    say('', false);
    let result = refusalOf(file) ?? { isBusy: true };
    for (let tries = 0; tries < triesMax && result.isBusy; tries += 1) {
      if (tries > 0) await pause(1_000 + Math.random() * 1_000);
      result = await sendPhoto(upload.dataset.upload, upload.dataset.token, file, (part) => (bar.value = part));
    }
    bar.hidden = true;
    again.hidden = !result.mayTry;
    say(result.words, !result.isSent);
    if (!result.isSent) return;
    added += 1;
    // It is below, unless there is more to say.
    if (result.words === 'Added') item.remove();
  };

  const work = async () => {
    if (isSending) return;
    isSending = true;
    for (let next = queue.shift(); next; next = queue.shift()) {
      await sendOne(next);
      const failed = list.querySelectorAll('.wrong').length;
      status.textContent = `${added} sent${failed > 0 ? `, ${failed} not accepted` : ''}.`;
      await refreshPhotos();
    }
    isSending = false;
    void watchPhotos();
  };

  const send = (files) => {
    queue.push(...[...files].map(show));
    void work();
  };

  for (const part of upload.querySelectorAll('[data-scripted]')) part.hidden = false;
  upload.querySelector('form .acts').hidden = true;
  for (const input of upload.querySelectorAll('input[type=file]')) {
    input.addEventListener('change', () => {
      send(input.files);
      input.value = '';
    });
  }
  addEventListener('beforeunload', (event) => isSending && event.preventDefault());
  // What is dropped or pasted is of one animal.
  if (uploads.length > 1) continue;
  const hasFiles = ({ dataTransfer }) => dataTransfer?.types.includes('Files');
  addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    document.body.classList.add('over');
  });
  addEventListener('dragleave', ({ relatedTarget }) => !relatedTarget && document.body.classList.remove('over'));
  addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    document.body.classList.remove('over');
    send(event.dataTransfer.files);
  });
  addEventListener('paste', ({ clipboardData }) => send(clipboardData?.files ?? []));
}

/** By a finger or a mouse, a card is drawn to its place by its corner. Buttons do the same. */
function gripOf(card) {
  const move = card.querySelector('[data-move]');
  if (!move || card.querySelector('.grip')) return;
  const list = card.parentElement;
  const grip = document.createElement('span');
  grip.className = 'grip';
  grip.ariaHidden = 'true';
  card.append(grip);
  grip.addEventListener('pointerdown', (down) => {
    if (down.button !== 0) return;
    down.preventDefault();
    const before = [...list.children];
    // Not of the card, which leaves the page for a moment as it is moved.
    const ending = new AbortController();
    const { signal } = ending;
    const end = (isDone) => {
      ending.abort();
      card.classList.remove('dragged');
      document.body.classList.remove('dragging');
      const position = [...list.children].indexOf(card);
      if (!isDone) {
        list.replaceChildren(...before);
        return numberAll(list);
      }
      if (position === before.indexOf(card)) return undefined;
      const field = Object.assign(document.createElement('input'), { type: 'hidden', name: 'position', value: position });
      card.querySelector('[data-move]').append(field);
      return field.form.requestSubmit();
    };
    const draw = ({ clientX, clientY }) => {
      const over = document.elementFromPoint(clientX, clientY)?.closest('[data-photos] > li');
      if (clientY < 60) scrollBy(0, -15);
      if (clientY > innerHeight - 60) scrollBy(0, 15);
      if (!over || over === card) return;
      const cards = [...list.children];
      if (cards.indexOf(over) > cards.indexOf(card)) over.after(card);
      else over.before(card);
      numberAll(list);
    };
    card.classList.add('dragged');
    document.body.classList.add('dragging');
    addEventListener('pointermove', draw, { signal });
    addEventListener('pointerup', () => end(true), { signal });
    addEventListener('pointercancel', () => end(false), { signal });
  });
}

function gripAll() {
  for (const card of document.querySelectorAll('[data-photos] > li')) gripOf(card);
}

gripAll();
if (isProcessing()) void watchPhotos();
