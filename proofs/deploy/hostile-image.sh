# For the scripts that try a deployment: what an image can do that has taken over the process that decodes it.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
attempts=$here/../../testkit/image-attempts.ts
socket=/run/homeward-images/images.sock

# hostile_decoder TARGETS confined|unconfined FILE: writes an image-process.ts that makes attempts in place of pictures.
hostile_decoder() { "$NODE" "$here/write-hostile-decoder.ts" "$@"; }

# ask_decoder PROGRAM COMMAND…: has COMMAND, which runs Node.js as the worker would, send an image. Prints which attempts succeeded.
ask_decoder() {
  local program=$1 printed
  shift
  for _ in $(seq 60); do
    printed=$("$@" --input-type=module --eval "import { openPictureMaker } from '$program/service/src/images/picture-maker.ts';
      import { Readable } from 'node:stream';
      const image = { bytes: 1_000, stream: Readable.from([Buffer.alloc(1_000)]) };
      console.log((await openPictureMaker('$socket')(image)).crashed);" 2>/dev/null || true)
    case $printed in succeeded:*) break ;; esac
    sleep 0.5
  done
  echo "$printed"
}

# attempt_as TARGETS COMMAND…: has COMMAND, which runs Node.js as the worker would, make the same attempts itself.
attempt_as() {
  local targets=$1
  shift
  "$@" --disable-warning=ExperimentalWarning --input-type=module-typescript --eval "$(sed 's/^export //' "$attempts")
    console.log('succeeded: ' + attemptAll($targets));"
}
