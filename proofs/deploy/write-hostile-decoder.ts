// For the scripts that try a deployment.
//   write-hostile-decoder.ts TARGETS confined|unconfined FILE
import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { plantHostileDecoder } from '../../testkit/hostile-decoder.ts';
import type { Targets } from '../../testkit/image-attempts.ts';

const [targets = '', mode, file = ''] = process.argv.slice(2);
using hostile = plantHostileDecoder(JSON.parse(targets) as Targets, { confines: mode === 'confined' });
copyFileSync(path.join(hostile.root, 'service/src/images/image-process.ts'), file);
