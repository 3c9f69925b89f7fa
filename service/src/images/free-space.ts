import type { DiskSpace } from '../platform/disk-space.ts';

const reserveBytes = 1_000_000_000;
const reserveShare = 0.05;

/** What photos leave free on the disk of their directory: 1 GB, or 5% of it if that is more. Others may write there too. */
export const photoReserveOf = ({ totalBytes }: DiskSpace): number => Math.max(reserveBytes, totalBytes * reserveShare);

/** What is to be stored. Pictures may use half of the reserve: their originals are deleted then, which makes room. */
export type Stored = 'original' | 'picture';

/** Some network file systems don't tell their size, which is then 0: they have room until a file can't be written. */
export const hasRoomFor = (stored: Stored, space: DiskSpace): boolean =>
  space.totalBytes === 0 || (space.freeBytes >= photoReserveOf(space) * (stored === 'original' ? 1 : 0.5) && !space.hasNoInode);
