// `node conformance-process.ts ADDON`: plays the conformance suite of the native media path over that addon, under any Node that loads
// it. Prints a line for each case that does not hold, then one JSON object. Under qemu-user, which
// does not know the options of the sockets, the cases that need them are left out.
import { createRequire } from 'node:module'
import type { NativeAddon } from '../../../media/src/io/native-packet-io.ts'
import { NATIVE_PATH_CASES } from '../../../media/src/io/testing/native-path-conformance.ts'

const addon = createRequire(import.meta.url)(process.argv[2]!) as NativeAddon
const LOOPBACK = 0x7f00_0001
const canOpen = new addon.PacketIo(performance.now()).open(LOOPBACK, 0) >= 0
const cases = NATIVE_PATH_CASES.filter(({ hasSockets }) => canOpen || hasSockets !== true)
let failed = 0
for (const { name, check } of cases) {
  try {
    await check(addon)
  } catch (error) {
    failed++
    console.error(`${name}: ${error}`)
  }
}
console.log(JSON.stringify({ arch: process.arch, cases: cases.length, without_sockets: !canOpen, failed }))
