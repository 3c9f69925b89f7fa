import { afterAll } from 'vitest';

/** For what all tests of a file share: disposed after the last of them, and what was opened last is disposed first. */
export function disposeAfterAll<Resource extends AsyncDisposable | Disposable>(resource: Resource): Resource {
  const stack = new AsyncDisposableStack();
  stack.use(resource);
  afterAll(() => stack.disposeAsync());
  return resource;
}
