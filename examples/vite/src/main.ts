// What runs in the browser. The SDK and the key stay in render.ts, on the server.
import './style.css';

const search = document.querySelector<HTMLInputElement>('#search');

search?.addEventListener('input', () => {
  const wanted = search.value.trim().toLowerCase();
  for (const card of document.querySelectorAll<HTMLElement>('.animals .card')) {
    const name = card.querySelector('h2')?.textContent ?? '';
    card.hidden = !name.toLowerCase().includes(wanted);
  }
});
