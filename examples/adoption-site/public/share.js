// The button that shares a page: by the share sheet of the system, else by copying the link. Without this script there is none.
const canonical = document.querySelector('link[rel=canonical]')?.href ?? location.href;
const notice = document.querySelector('#notice');

for (const button of document.querySelectorAll('[data-share]')) {
  button.hidden = false;
  button.addEventListener('click', () => void share());
}

async function share() {
  if (!navigator.share) return copy();
  try {
    await navigator.share({ title: document.title, url: canonical });
  } catch (error) {
    // Closing the sheet is no failure.
    if (error.name !== 'AbortError') await copy();
  }
}

async function copy() {
  try {
    await navigator.clipboard.writeText(canonical);
    notice.replaceChildren('The link was copied.');
  } catch {
    const field = document.createElement('input');
    field.readOnly = true;
    field.value = canonical;
    field.setAttribute('aria-label', 'Link to this page');
    notice.replaceChildren('Copy this link: ', field);
    field.select();
  }
}
