// The systemd units, judged by systemd itself.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import type { Claim } from '../proof.ts';
import { attempt, requirePrograms } from './programs.ts';

const exposureMax = 1.5;

export async function unitClaims(deploy: string): Promise<Claim[]> {
  requirePrograms({ 'systemd-analyze': 'systemd' });
  using temporary = temporaryFolder('units');
  const folder = temporary.path;
  const units = globSync('*.service', { cwd: path.join(deploy, 'systemd') }).sort();
  for (const unit of units) {
    const text = readFileSync(path.join(deploy, 'systemd', unit), 'utf8');
    // The program is not installed here, and systemd complains about one that does not exist.
    writeFileSync(path.join(folder, unit), text.replaceAll('/usr/lib/homeward/bin/node', process.execPath));
  }
  const verified = await Promise.all(units.map((unit) => verify(path.join(folder, unit))));
  const exposures = await Promise.all(units.map((unit) => exposureOf(path.join(folder, unit))));
  const problems = verified.filter(Boolean);
  return [
    {
      claim: 'systemd: every line of the units is understood',
      bar: '0 complaints',
      figure: problems.length === 0 ? `${units.length} units, 0 complaints` : problems.join('; '),
      holds: problems.length === 0 && units.length === 5,
    },
    {
      claim: 'systemd: exposure of each unit, as systemd-analyze security computes it',
      bar: `${exposureMax} at most`,
      figure: units.map((unit, i) => `${unit} ${exposures[i]}`).join(', '),
      holds: exposures.length === 5 && exposures.every((exposure) => exposure <= exposureMax),
    },
  ];
}

/** The exit status is 0 for an unknown setting too, so anything that is printed is a complaint. */
async function verify(file: string): Promise<string> {
  const { status, stdout, stderr } = await attempt('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', file]);
  return `${stdout}${stderr}`.trim() || (status === 0 ? '' : `${path.basename(file)}: status ${status}`);
}

async function exposureOf(file: string): Promise<number> {
  const { stdout } = await attempt('systemd-analyze', ['security', '--offline=true', '--no-pager', file]);
  return Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1] ?? Number.NaN);
}
