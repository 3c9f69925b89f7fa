import type { PhotosConfig } from '../platform/config.ts';
import { DirectoryStore } from './directory-store.ts';
import type { PhotoStore } from './photo-store.ts';
import { S3Store } from './s3-store.ts';

/** Undefined: photos are off. */
export function openPhotoStore(config: PhotosConfig | undefined): PhotoStore | undefined {
  if (!config) return undefined;
  return 's3' in config ? new S3Store(config.s3) : new DirectoryStore(config.directory);
}
