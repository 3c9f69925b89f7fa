// The button that searches near the visitor. The browser is asked for the place only when the button is pressed, and only the
// nearest kilometre of it is sent. Without this script, the form offers towns.
const button = document.querySelector('#near-me');
const place = document.querySelector('#near');
const spoken = document.querySelector('#spoken');
const timeoutMs = 10_000;

if ('geolocation' in navigator && isSecureContext) {
  button.hidden = false;
  button.addEventListener('click', () => {
    button.disabled = true;
    navigator.geolocation.getCurrentPosition(searchNear, explain, { timeout: timeoutMs, maximumAge: 600_000 });
  });
}

function searchNear({ coords: { latitude, longitude } }) {
  const value = `${latitude.toFixed(2)},${longitude.toFixed(2)}`;
  place.add(new Option('Where you are', value, true, true));
  place.form.requestSubmit();
}

function explain() {
  button.disabled = false;
  button.textContent = 'Choose a town instead';
  spoken.textContent = 'Your browser did not tell where you are. Choose a town instead.';
  place.closest('details').open = true;
  place.focus();
}
