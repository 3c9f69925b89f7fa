import { execFileSync } from 'node:child_process';

/** The first Python that has the library `requests`; undefined if there is none. */
export function findPython(): string | undefined {
  for (const python of ['python3', '/usr/bin/python3']) {
    try {
      // The program itself: python3 may be a script that needs the environment of this process.
      const print = 'import sys, requests; print(sys.executable)';
      return execFileSync(python, ['-c', print], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      // The next one may have it.
    }
  }
  return undefined;
}
